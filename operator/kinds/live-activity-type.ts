import { contradictions } from "#core/domain/live-activities/schema.ts";
import { type LiveActivityTypeSpec, liveActivityTypeResource } from "#core/schema/live-activities/resource.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import {
  type LiveActivityTypeRow,
  type LiveActivityTypes,
  liveActivityTypeCollection,
} from "#core/storage/live-activities/types.ts";
import type { OneWriter } from "#core/storage/mongo/duplicate.ts";
import type { Handler } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import type { Store } from "../kube/store.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { idOf } from "../policies/management.ts";
import { type AppRefDeps, appIsGone, appOf, besideInApp } from "../records/app-ref.ts";
import { type Common, kept, noRoomYet, refusal } from "../records/platform.ts";
import { records } from "../records/record.ts";
import type { PlanRoom } from "../records/room.ts";

export type LiveActivityTypeDeps = Common &
  AppRefDeps & {
    types: LiveActivityTypes;
    /** With the index `name`: {@link typeNameOf}. */
    store: Pick<Store<ActivityType>, "by">;
    noRoom: PlanRoom;
    /** Makes those of one app one after another, so that two do not both find its last place. */
    oneByOne: OneWriter;
  };

type ActivityType = Resource<LiveActivityTypeSpec, { id?: string }>;

/** LiveActivityType: a document of its app. */
export const liveActivityTypeHandler = (deps: LiveActivityTypeDeps): Handler<ActivityType> => {
  const { types, clock } = deps;
  const what = "live activity type";
  const record = records({
    ...deps,
    definition: liveActivityTypeResource,
    rows: types,
    collection: liveActivityTypeCollection.name,
    what,
    called: ({ app_id = "", name = "" }) => types.called(app_id, name),
  });
  return {
    reconcile: async (type) => {
      const ref = await appOf(deps, type, type.spec.appRef);
      if (ref.kind === "gone") await record.dropWith(type, appIsGone(deps));
      if (ref.kind !== "found") return refusal(ref.finding);
      const app = ref.row;
      const set = members(type, app);
      const stand = await record.look(type, besideInApp(type, app));
      if (stand.kind !== "write") {
        return record.tell(type, stand, { describe: () => ({ status: { appId: app._id }, members: set }) });
      }
      const finding = badSchema(type);
      if (finding !== null) return refusal(finding);
      const wanted = { set, begin: { created_at: clock.now() }, names: [typeNameOf(type)] };
      const id = idOf(liveActivityTypeResource, type);
      const write = () => record.keep(type, stand, wanted);
      const create = async () => {
        const full = await deps.noRoom(app, id);
        return full === null ? write() : { verdict: noRoomYet(full) };
      };
      const result = await (stand.row === null ? deps.oneByOne(app._id, create) : write());
      return "verdict" in result ? result.verdict : kept(type, what, { ...result, id, appId: app._id });
    },
    remove: (type) => record.drop(type),
  };
};

/** What no rule of the CRD can say: it does not see the values of an enum. */
const badSchema = ({ spec: { contentStateSchema, attributesSchema } }: ActivityType): Finding | null => {
  const [problem] = [
    ...contradictions(contentStateSchema, "spec.contentStateSchema"),
    ...(attributesSchema === undefined ? [] : contradictions(attributesSchema, "spec.attributesSchema")),
  ];
  return problem === undefined ? null : refused("SchemaInvalid", `${problem.field}: ${problem.message}`);
};

/** What is unique of a type. */
export const typeNameOf = ({ metadata, spec }: ActivityType): string =>
  `${metadata.namespace}/${spec.appRef}/${spec.name}`;

const members = ({ spec }: ActivityType, app: AppRow): Partial<LiveActivityTypeRow> => ({
  tenant_id: app.tenant_id,
  app_id: app._id,
  name: spec.name,
  description: spec.description ?? null,
  content_state_schema: spec.contentStateSchema,
  attributes_schema: spec.attributesSchema ?? { type: "object", properties: {} }, // decisions 6.1
});
