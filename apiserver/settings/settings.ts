import type { Clock } from "#core/domain/clock.ts";
import type { AppError } from "#core/errors.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type {
  AppSettings,
  OwnedRow,
  OwnedRows,
  SettingChange,
  SettingRow,
} from "#core/storage/settings/app-settings.ts";
import { rememberChange } from "#core/storage/work/intended-changes.ts";
import type { Caller } from "../access/caller.ts";
import { type AllPlans, type PlanRules, planRules } from "../limits/plan-rules.ts";
import type { LateNats } from "../publishing/late-nats.ts";
import { type Audit, type By, intend } from "./audit.ts";
import { requireUnmanaged } from "./managed.ts";
import { laterThan, writeAsIs } from "./write-as-is.ts";

/** A thing of an app, which it names, or of a tenant. */
export type ThingRow = OwnedRow & { app_id?: string };

/** Something that apps, or tenants, are set up with. */
export type Setting<Row extends ThingRow, View extends object = object> = {
  /** In words, such as `live activity type`; events of changes call it `live_activity_type`. */
  what: string;
  store: OwnedRows<Row>;
  /** The app that a change is about, null where it is about none; left out: the one that its row names. */
  appOf?: (row: Row) => string | null;
  /** As the REST interface shows it: an event shows what of this has another value. */
  view: (row: Row, now: Date) => View;
  /** What events of changes tell apart by; left out: `view`. */
  report?: (row: Row, now: Date) => object;
  plan: PlanRules;
  /** Whether all events of the app that are published after a reply find it changed; false when left out. */
  isBeforeEvents?: boolean;
  /** Says that another has a member which is unique; left out where none is. */
  taken?: (row: Row) => Promise<AppError>;
};

export type SettingsPlatform = { nats: Pick<LateNats, "changed">; audit: Audit; plans: AllPlans; clock: Clock };

/**
 * Makes, changes and removes settings of one kind. An event reports each, every process hears of it, and none is lost
 * to another writer at the same moment.
 */
export const settings = <Row extends SettingRow, View extends object>(
  platform: SettingsPlatform,
  setting: Setting<Row, View> & { store: AppSettings<Row> },
) => {
  const { ofApp, find } = setting.store;
  return { ofApp, find, ...things(platform, setting) };
};

/** The same for what may be no app's. */
export const things = <Row extends ThingRow, View extends object>(
  platform: SettingsPlatform,
  setting: Setting<Row, View>,
) => {
  const { store } = setting;
  const plan = planRules(platform.plans, setting.plan);
  const kind = kindOf(platform, setting);
  const view = (row: Row): View => setting.view(row, platform.clock.now());
  return {
    view,
    /** As the reply to its creation shows it; a kind that shows more there has its own. */
    viewMade: view,
    announce: kind.announce,
    requireRoom: (caller: Caller, { _id }: Pick<AppRow, "_id">): Promise<void> =>
      plan.requireRoom(caller, () => store.count(_id)),
    create: create(kind, plan.requireCount),
    change: change(kind),
    /** Writes to one as it is now, again when another was quicker; {@link attempt} is one try. */
    write: kind.write,
    attempt: attempt(kind),
    remove: remove(kind),
  };
};

export type Settings<Row extends SettingRow> = ReturnType<typeof settings<Row, object>>;

export type Things<Row extends ThingRow> = ReturnType<typeof things<Row, object>>;

type Kind<Row extends ThingRow> = ReturnType<typeof kindOf<Row>>;

/** A row before and after a change; null is what is not there. */
type Change<Row> = { before: Row | null; after: Row | null };

/** What every change of one kind of settings needs. */
const kindOf = <Row extends ThingRow>({ nats, audit, clock }: SettingsPlatform, setting: Setting<Row>) => {
  const { what, store, view, report = view, appOf = ({ app_id }: Row) => app_id ?? null } = setting;
  const { isBeforeEvents: isAwaited = false } = setting;
  return {
    ...setting,
    clock,

    /** Best effort: who does not hear of it finds out within a minute. */
    announce: (row: Row): void => nats.changed(store.name, row._id, appOf(row) ?? undefined),

    /** Makes a change that an event reports. */
    audited: <T>(
      { by, verb, of }: { by: By; verb: string; of: Row },
      { before, after }: Change<Row>,
      make: (changeId: string) => Promise<T | null>,
    ): Promise<T | null> => {
      const now = clock.now();
      const shown = { before: before && report(before, now), after: after && report(after, now) };
      const type = what.replaceAll(/[ -]/g, "_");
      const intended = intend(by, { type, collection: store.name, id: of._id, appId: appOf(of), verb, ...shown });
      return audit({ ...intended, isAwaited }, make);
    },

    /** Writes to one as it is now, again when another was quicker. */
    write: <T>(found: Row, attempt: (row: Row) => Promise<T | null>): Promise<T> =>
      writeAsIs({ what, found, reread: store.reread, attempt }),
  };
};

/** Stores a new one. @throws AppError HS_ALREADY_EXISTS, HS_PLAN_FEATURE_REQUIRED, HS_QUOTA_EXCEEDED */
const create =
  <Row extends ThingRow>(kind: Kind<Row>, requireCount: RequireCount) =>
  async (by: By, row: Row): Promise<Row> => {
    await kind.audited({ by, verb: "created", of: row }, { before: null, after: row }, async () => {
      await insertWithinPlan(kind, row, (count) => requireCount(by.caller, count));
      kind.announce(row); // before its event is published: it may want it
      return row;
    });
    return row;
  };

type RequireCount = (caller: Caller, count: number) => Promise<void>;

/**
 * Stores first and counts then: of two that are made at once and pass the number of an app by that, at least the one
 * that counts last is taken back, so that the number is never passed.
 */
const insertWithinPlan = async <Row extends ThingRow>(
  kind: Kind<Row>,
  row: Row,
  requireCount: (count: number) => Promise<void>,
): Promise<void> => {
  if (!(await kind.store.insert(row))) throw await alreadyThere(kind, row);
  try {
    await requireCount(await kind.store.count(row.app_id ?? row.tenant_id));
  } catch (error) {
    await kind.store.takeBack(row);
    throw error;
  }
};

const alreadyThere = async <Row extends ThingRow>({ what, taken }: Kind<Row>, row: Row): Promise<Error> =>
  (await taken?.(row)) ?? new Error(`there is a ${what} ${row._id} already`);

/**
 * Changes one as it is now: `decide` sees it as the write finds it, again when another was quicker.
 * @throws AppError HS_MANAGED when a resource enforces it, HS_ALREADY_EXISTS
 */
const change =
  <Row extends ThingRow>(kind: Kind<Row>) =>
  (by: By, verb: string, found: Row, decide: (row: Row, now: Date) => SettingChange<Row>): Promise<Row> =>
    kind.write(found, (before) => attempt(kind)(by, verb, before, decide(before, kind.clock.now())));

/** Changes one unless it is no longer as it was read: null then. @throws as above */
const attempt =
  <Row extends ThingRow>(kind: Kind<Row>) =>
  (by: By, verb: string, before: Row, { set }: SettingChange<Row>): Promise<Row | null> => {
    requireUnmanaged(kind.what, before, Object.keys(set));
    const wanted = { ...set, updated_at: laterThan(before.updated_at, kind.clock.now()) };
    const after = { ...before, ...wanted };
    return kind.audited({ by, verb, of: before }, { before, after }, async (id) => {
      const written = await kind.store.change(before, { set: { ...wanted, ...rememberChange(before, id) } });
      if (written === "taken") throw await alreadyThere(kind, after);
      if (written !== null) kind.announce(written); // as above
      return written;
    });
  };

/** Removes one as it is now. @throws AppError HS_MANAGED when a resource enforces it */
const remove =
  <Row extends ThingRow>(kind: Kind<Row>) =>
  async (by: By, found: Row): Promise<void> => {
    await kind.write(found, (before) => {
      requireUnmanaged(kind.what, before);
      const gone = async () => (await kind.store.remove(before)) || null;
      return kind.audited({ by, verb: "deleted", of: before }, { before, after: null }, gone);
    });
    kind.announce(found);
  };

/** The members that each new setting of an app has. */
export const newSetting = ({ _id: app_id, tenant_id }: AppRow, _id: string, now: Date): SettingRow => ({
  _id,
  tenant_id,
  app_id,
  managed: null,
  created_at: now,
  updated_at: now,
});
