import { type LiveActivityTypeSpec, liveActivityTypeResource } from "#core/schema/resources/live-activity-type.ts";
import type { AppRow } from "#core/storage/apps.ts";
import {
  type LiveActivityTypeRow,
  type LiveActivityTypes,
  liveActivityTypeCollection,
} from "#core/storage/live-activity-types.ts";
import type { Handler } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import { type AppRefDeps, appOf } from "./app-ref.ts";
import { type Common, dropRow, idOf, isWritten, kept, keptFinding, managedBy, refusal } from "./common.ts";
import type { PlanRoom } from "./plan-room.ts";

export type LiveActivityTypeDeps = Common &
  AppRefDeps & {
    types: LiveActivityTypes;
    noRoom: PlanRoom;
    oneByOne: <T>(create: () => Promise<T>) => Promise<T>;
  };

type ActivityType = Resource<LiveActivityTypeSpec>;

export const maxTypesOfApp = 100; // decisions 9.7

/** LiveActivityType: a document of its app. */
export const liveActivityTypeHandler = (deps: LiveActivityTypeDeps): Handler<ActivityType> => {
  const { types, announce, clock } = deps;
  return {
    reconcile: async (type) => {
      const id = idOf("liveActivityType", type);
      const app = await appOf(deps, type, type.spec.appRef);
      if (app.kind !== "found") {
        const isGone = app.kind === "gone" && (await types.remove(id, type.metadata.uid));
        if (isGone) announce(liveActivityTypeCollection.name, id);
        return refusal(app.finding);
      }
      const found = await types.find(id);
      const wanted = {
        id,
        found,
        managed: managedBy(liveActivityTypeResource, type),
        set: members(type, app.row),
        begin: { created_at: clock.now() },
      };
      const write = () => types.keep(wanted, clock.now());
      const create = async () => (await deps.noRoom(app.row, id)) ?? (await write());
      const result = await (found === null ? deps.oneByOne(create) : write());
      if (typeof result === "object") return refusal(result);
      if (isWritten(result)) announce(liveActivityTypeCollection.name, id);
      const conflict = keptFinding(result, "live activity type");
      return conflict === null ? kept("live activity type", result, { id, appId: app.row._id }) : refusal(conflict);
    },
    remove: async (type) => {
      const id = idOf("liveActivityType", type);
      await dropRow({ rows: types, collection: liveActivityTypeCollection.name, announce, clock }, id, type);
      return null;
    },
  };
};

const members = ({ spec }: ActivityType, app: AppRow): Partial<LiveActivityTypeRow> => ({
  tenant_id: app.tenant_id,
  app_id: app._id,
  name: spec.name,
  description: spec.description ?? null,
  content_state_schema: spec.contentStateSchema,
  attributes_schema: spec.attributesSchema ?? { type: "object", properties: {} }, // decisions 6.1
});
