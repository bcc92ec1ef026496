import { defaultPlatforms } from "#core/domain/live-activities/platforms.ts";
import { contradictions } from "#core/domain/live-activities/schema.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { type LiveActivityTypeSpec, liveActivityTypeResource } from "#core/schema/live-activities/resource.ts";
import { activityLimits } from "#core/schema/live-activities/type.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { endOfType } from "#core/storage/live-activities/end-of-type.ts";
import {
  type LiveActivityTypeRow,
  liveActivityTypeCollection,
  liveActivityTypes,
} from "#core/storage/live-activities/types.ts";
import { type Handler, refusal } from "../engine/handler.ts";
import { beside } from "../engine/links.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { defineKind, type Tools } from "../records/kind.ts";
import { appLink, inApp, ofApp, withApp } from "../records/owner-refs.ts";
import type { Platform } from "../records/platform.ts";
import { planLimit, type WithinPlan, withinPlan } from "../records/within-plan.ts";

type ActivityType = Resource<LiveActivityTypeSpec, { id?: string }>;
type Deps = Tools<ActivityType, LiveActivityTypeRow> & { withinPlan: WithinPlan<AppRow> };

/** LiveActivityType: a document of its app. */
export const liveActivityType = defineKind<ActivityType, LiveActivityTypeRow>({
  definition: liveActivityTypeResource,
  what: "live activity type",
  collection: liveActivityTypeCollection,
  called: ({ db }, { app_id = "", name = "" }) => liveActivityTypes(db).called(app_id, name),
  goesWithOwner: { index: "name" },
  indexes: { name: (type) => [nameOf(type)], app: (type) => [beside(type, type.spec.appRef)] },
  links: [appLink],
  handler: (tools) => handler({ ...tools, withinPlan: withinPlan(limit(tools), tools.timing) }),
});

const limit = ({ db, owners }: Platform) =>
  planLimit({
    owners,
    feature: "live_activities",
    things: "live activity types",
    most: () => activityLimits.types,
    countOthers: liveActivityTypes(db).countOthers,
  });

const handler = (deps: Deps): Handler<ActivityType> => {
  const { record, clock } = deps;
  return {
    reconcile: (type, signal) =>
      withApp(deps, type, async (app) => {
        const set = membersOf(type, app);
        const status = { appId: app._id };
        const stand = await record.look(type, inApp(type, app));
        if (stand.kind !== "write") return record.report(type, stand, () => ({ status, members: set }), signal);
        const finding = badSchema(type);
        if (finding !== null) return refusal(finding);
        const wanted = { set, begin: { created_at: clock.now() }, names: [nameOf(type)] };
        const at = { owner: app, id: record.idOf(type), row: stand.row };
        const result = await deps.withinPlan(at, () => record.keep(type, stand, wanted));
        return "verdict" in result ? result.verdict : record.kept(type, result, status);
      }),
    remove: async (type, signal) =>
      record.drop(type, { before: (id) => endWhatRuns(deps, id) }, signal, await ofApp(deps, type)),
  };
};

/** As a removal over REST does by `force`: whoever deletes a resource is not asked again. */
const endWhatRuns = async ({ rows, db, fence, clock }: Deps, id: string): Promise<null> => {
  const row = await rows.find(id);
  fence.check();
  if (row !== null) await endOfType(db)(row.app_id, id, clock.now());
  return null;
};

/** Checks what no rule of the CRD can: CEL does not see the values of an enum. */
const badSchema = ({ spec: { contentStateSchema, attributesSchema } }: ActivityType): Finding | null => {
  const [problem] = [
    ...contradictions(contentStateSchema, "spec.contentStateSchema"),
    ...(attributesSchema === undefined ? [] : contradictions(attributesSchema, "spec.attributesSchema")),
  ];
  return problem === undefined ? null : refused("SchemaInvalid", `${problem.field}: ${problem.message}`);
};

/** The type's name, which is unique in its app. */
const nameOf = ({ metadata, spec }: ActivityType): string => `${metadata.namespace}/${spec.appRef}/${spec.name}`;

const membersOf = ({ spec }: ActivityType, app: AppRow): Partial<LiveActivityTypeRow> => ({
  tenant_id: app.tenant_id,
  app_id: app._id,
  name: spec.name,
  description: spec.description ?? null,
  content_state_schema: spec.contentStateSchema,
  attributes_schema: spec.attributesSchema ?? { type: "object", properties: {} },
  platforms: spec.platforms ?? defaultPlatforms,
  frequent_updates: spec.frequentUpdates ?? false,
});
