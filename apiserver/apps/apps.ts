import { settingProblems } from "#core/domain/apps/setting-rules.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { AppError, refuse } from "#core/errors.ts";
import { App, type CreateApp, type UpdateApp } from "#core/schema/apps/app.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow, Apps } from "#core/storage/apps/apps.ts";
import { appRemoval } from "#core/storage/apps/removal.ts";
import type { RemovalRow, Removals } from "#core/storage/work/removals.ts";
import type { Caller } from "../access/caller.ts";
import { existing } from "../http/locate.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { type SettingsPlatform, type Things, things } from "../settings/settings.ts";
import { appRoom } from "./settings.ts";

const mostListed = 1_000; // docs/reference/apps.md

type AppRemovals = Pick<Removals, "begin" | "ofApp">;

/** Makes, shows, changes and removes apps of an organisation. Source: docs/reference/apps.md. */
export const appsUse = (
  platform: SettingsPlatform,
  apps: Pick<Apps, "find" | "called" | "ofTenant" | "owned">,
  removals: AppRemovals,
) => {
  const kept = things<AppRow, App>(platform, {
    what: "app",
    store: apps.owned,
    appOf: ({ _id }) => _id,
    view: appView,
    plan: appRoom,
    taken: async ({ tenant_id: tenantId, name }) => {
      const id = (await apps.called(tenantId, name))?._id ?? null;
      return new AppError("HS_ALREADY_EXISTS", "the organisation has an app of this name", { field: "name", id });
    },
  });
  return {
    /** Those that the key is for, in the order of creation. */
    list: async ({ tenant, key }: Caller): Promise<App[]> => {
      const all = await apps.ofTenant(tenant._id, mostListed);
      const own = all.filter(({ _id }) => key.app_ids === null || key.app_ids.includes(_id));
      return own
        .sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1))
        .map(appView);
    },

    ...removing({ kept, removals, clock: platform.clock }),

    /** What an attempt made that was cut short; null when it made nothing. */
    made: async ({ tenant }: Caller, id: string): Promise<App | null> => {
      const row = await apps.find(id);
      return row === null || row.tenant_id !== tenant._id ? null : appView(row);
    },

    /** @throws ValidationError, AppError HS_ALREADY_EXISTS, HS_PLAN_FEATURE_REQUIRED, HS_QUOTA_EXCEEDED */
    create: async (by: By, id: string, body: CreateApp): Promise<App> => {
      refuse(settingProblems(body));
      const now = platform.clock.now();
      const { tenant } = by.caller;
      const begin = { channels: {}, channels_revision: 1, managed: null, created_at: now, updated_at: now };
      return appView(await kept.create(by, { _id: id, tenant_id: tenant._id, ...body, ...begin }));
    },

    /** An app that the key is for, as it is now; null when its row is gone. */
    there: async ({ tenant, key }: Caller, id: string): Promise<AppRow | null> => {
      const row = key.app_ids === null || key.app_ids.includes(id) ? await apps.find(id) : null;
      return row === null || row.tenant_id !== tenant._id ? null : row;
    },

    /** @throws ValidationError, AppError HS_ALREADY_EXISTS, HS_MANAGED */
    update: async (by: By, app: AppRow, body: UpdateApp): Promise<App> => {
      refuse(settingProblems(body));
      return appView(await kept.change(by, "updated", app, () => ({ set: body })));
    },
  };
};

type Removing = { kept: Pick<Things<AppRow>, "remove">; removals: AppRemovals; clock: Clock };

const removing = ({ kept, removals, clock }: Removing) => ({
  /**
   * Has an app removed, with all that belongs to it. The removal is written down first: a kill leaves either the whole
   * app or a removal that goes on. It waits until the app's own row is gone.
   * @throws AppError HS_MANAGED
   */
  remove: async (by: By, app: AppRow): Promise<void> => {
    requireUnmanaged("app", app);
    const { name, created_at, updated_at } = app;
    const head = { name, created_at, updated_at, time_zone: settingsOf(app).time_zone };
    await removals.begin({ ...appRemoval(app, clock.now()), app: head });
    await kept.remove(by, app);
  },

  /** An app that is being removed, as it was, and how far that has come. @throws NotFound */
  removed: async ({ tenant, key }: Caller, id: string): Promise<App> => {
    const isOfKey = key.app_ids === null || key.app_ids.includes(id);
    return removedView(existing(isOfKey ? await removals.ofApp(tenant._id, id) : null, "app"));
  },
});

/** An app as the REST interface shows it. */
export const appView = (row: AppRow): App =>
  showAs(App, {
    ...row,
    id: row._id,
    removal: null,
    time_zone: settingsOf(row).time_zone,
    channels: Object.keys(row.channels).sort() as Channel[], // sound: by the type of its row
    managed: row.managed && { kind: row.managed.kind, namespace: row.managed.namespace, name: row.managed.name },
  });

/** An app whose row is gone; the operator's removals say nothing of it but its id. */
const removedView = ({ _id: id, app, removed_at: at, progress }: RemovalRow): App => {
  const { name, time_zone, created_at, updated_at } = app ?? {
    name: id,
    time_zone: "UTC",
    created_at: at,
    updated_at: at,
  };
  return showAs(App, {
    id,
    name,
    time_zone,
    channels: [],
    removal: { started_at: at.toISOString(), removed: progress?.done ?? 0 },
    managed: null,
    created_at,
    updated_at,
  });
};
