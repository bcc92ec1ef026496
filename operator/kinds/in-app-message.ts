import { type FieldError, ValidationError } from "#core/errors.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { inAppBounds } from "#core/schema/in-app-messages/content.ts";
import { type InAppMessageSpec, inAppMessageResource } from "#core/schema/in-app-messages/resource.ts";
import { segmentResource } from "#core/schema/segments/resource.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import {
  checkInApp,
  type InAppMembers,
  inAppMembers,
  inAppTargetOf,
  newInAppMembers,
} from "#core/storage/in-app-messages/check.ts";
import {
  type InAppMessageRow,
  type InAppMessages,
  inAppMessageCollection,
  inAppMessages,
} from "#core/storage/in-app-messages/in-app-messages.ts";
import { oneWriter } from "#core/storage/mongo/duplicate.ts";
import { appSegments, segmentCollection } from "#core/storage/segments/segments.ts";
import { type Handler, refusal } from "../engine/handler.ts";
import { beside, isRefused, link } from "../engine/links.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { ownMembers, placeOf, saidIn } from "../policies/in-app-messages/members.ts";
import { defineKind, type Tools } from "../records/kind.ts";
import { appLink, inApp, ofApp, withApp } from "../records/owner-refs.ts";
import type { Platform } from "../records/platform.ts";
import { planLimit, type WithinPlan, withinPlan } from "../records/within-plan.ts";

type InAppResource = Resource<InAppMessageSpec, { id?: string }>;
type Deps = Tools<InAppResource, InAppMessageRow> & {
  messages: InAppMessages;
  withinPlan: WithinPlan<AppRow>;
  oneByOne: ReturnType<typeof oneWriter>;
};

/** InAppMessage: a document of its app. */
export const inAppMessage = defineKind<InAppResource, InAppMessageRow>({
  definition: inAppMessageResource,
  what: "in-app message",
  collection: inAppMessageCollection,
  called: ({ db }, { app_id = "", name = "" }) => inAppMessages(db).named(app_id, name),
  indexes: {
    name: (one) => [`${beside(one, one.spec.appRef)}/${one.spec.name}`],
    app: (one) => [beside(one, one.spec.appRef)],
    naming: (one) => namedIn(one),
    waiting: (one) => (isRefused(one) && namedIn(one).length > 0 ? [beside(one, one.spec.appRef)] : []),
  },
  links: [
    appLink,
    link(segmentResource, "naming", (one) =>
      [one.spec.name, one.status?.id ?? one.spec.name].map((called) => beside(one, `${one.spec.appRef}/${called}`)),
    ),
  ],
  isRecordReported: true,
  handler: (tools) =>
    handler({
      ...tools,
      messages: inAppMessages(tools.db),
      withinPlan: withinPlan(limit(tools), tools.timing),
      oneByOne: oneWriter(),
    }),
});

const limit = ({ db, owners }: Platform) =>
  planLimit({
    owners,
    feature: null,
    things: "in-app messages",
    most: () => inAppBounds.messages,
    countOthers: inAppMessages(db).countOthers,
  });

const handler = (deps: Deps): Handler<InAppResource> => {
  const { record, rows, clock } = deps;
  return {
    reconcile: (resource, signal) =>
      withApp(deps, resource, async (app) => {
        const id = record.idOf(resource);
        const stand = await record.look(resource, inApp(resource, app));
        if (stand.kind === "refused") return record.report(resource, stand, neverAsked, signal);
        const asked = await membersOf(deps, { resource, app, row: stand.row });
        const about = (row: InAppMessageRow) => ({ status: statusOf(row), members: "set" in asked ? asked.set : {} });
        if (stand.kind === "left") return record.report(resource, stand, about, signal);
        if ("finding" in asked) return refusal(asked.finding, retryMs);
        const { set } = asked;
        const begin = { ...begun(set), created_at: clock.now() };
        const names = [`${beside(resource, resource.spec.appRef)}/${set.name}`];
        const wanted = { set, begin, names, members: ownMembers(resource.spec) };
        const becoming = set.status ?? stand.row?.status;
        return deps.oneByOne(app._id, async () => {
          const full = becoming === "active" && stand.row?.status !== "active" ? await noPlace(deps, app, id) : null;
          if (full !== null) return refusal(full, retryMs);
          const at = { owner: app, id, row: stand.row };
          const result = await deps.withinPlan(at, () => record.keep(resource, stand, wanted));
          if ("verdict" in result) return result.verdict;
          announceNamed(deps, [...(stand.row?.segment_ids ?? []), ...(set.segment_ids ?? [])], app._id);
          return record.kept(resource, result, statusOf({ ...begun(set), ...stand.row, ...set, app_id: app._id }));
        });
      }),
    remove: async (resource, signal) => {
      const gone: InAppMessageRow[] = [];
      const around = {
        before: async (id: string) => {
          const row = await rows.find(id);
          if (row !== null) gone.push(row);
          return null;
        },
        after: async () => {
          for (const { segment_ids: ids, app_id: appId } of gone) announceNamed(deps, ids, appId);
        },
      };
      return record.drop(resource, around, signal, await ofApp(deps, resource));
    },
  };
};

/** A refused stand describes no record. */
const neverAsked = () => ({ status: {}, members: {} });

const retryMs = 30_000; // the REST interface may make a segment that it names, or pause another message

type Members = Pick<InAppMessageRow, "tenant_id" | "app_id" | "name"> & Partial<InAppMembers>;
type Of = { resource: InAppResource; app: AppRow; row: InAppMessageRow | null };

/** The record that a resource asks for, with the ids of the segments that it names; or what is wrong with that. */
const membersOf = async (
  { db }: Deps,
  { resource: { spec }, app, row }: Of,
): Promise<{ set: Members } | { finding: Finding }> => {
  try {
    const said = saidIn(spec, row);
    const own = { tenant_id: app.tenant_id, app_id: app._id, name: spec.name };
    const target = said.target && (await inAppTargetOf({ segments: appSegments(db) })(app._id, said.target));
    const set = { ...inAppMembers(said), ...target, ...own };
    checkInApp({ ...begun(set), ...row, ...set });
    return { set };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const { field, message } = error.details as FieldError; // sound: the first fault stands there
    return { finding: refused("ContentInvalid", `${placeOf(field)}: ${message}`) };
  }
};

/** What a new one has that nobody says. */
const begun = ({ variants = [], name }: Members) => ({
  ...newInAppMembers({ name, variants }),
  target: { included_segments: [], excluded_segments: [] },
  segment_ids: [],
});

const noPlace = async ({ messages }: Deps, app: AppRow, id: string): Promise<Finding | null> =>
  (await messages.countOtherActive(app._id, id)) < inAppBounds.active
    ? null
    : refused("PlanLimitReached", `an app may have ${inAppBounds.active} active in-app messages`);

const statusOf = ({ app_id: appId, status }: Pick<InAppMessageRow, "app_id" | "status">) => ({ appId, state: status });

/** The segments' statuses say what uses them. */
const announceNamed = ({ announce }: Pick<Deps, "announce">, ids: readonly string[], appId: string): void => {
  for (const id of new Set(ids)) announce(segmentCollection.name, id, appId);
};

const namedIn = (one: InAppResource): string[] => {
  const { includedSegments = [], excludedSegments = [] } = one.spec.target ?? {};
  return [...includedSegments, ...excludedSegments].map((name) => beside(one, `${one.spec.appRef}/${name}`));
};
