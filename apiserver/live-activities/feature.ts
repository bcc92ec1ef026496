import { OkReply } from "#core/schema/json/error.ts";
import {
  CreateLiveActivityType,
  LiveActivityType,
  LiveActivityTypeList,
  UpdateLiveActivityType,
} from "#core/schema/live-activities/type.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import type { Caller } from "../access/caller.ts";
import { feature } from "../http/feature.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { activityTypes, type ActivityTypes as Use } from "./use-cases.ts";
import { activityTypeView } from "./views.ts";

const tag = "Live activities";
const ofTypes = "/v1/apps/{appId}/live-activities/types";
const ofType = `${ofTypes}/{activityType}`;

/** Reading and removing what there is needs no plan; making and changing does. */
const activitiesInPlan = ({ use, caller }: { use: Use; caller: Caller }): Promise<void> => use.requireFeature(caller);

const route = routeOf<Use>();

/** The live activity type that the path names by its id or its name. */
const activityTypeOfPath = async (located: Located<Use>): Promise<LiveActivityTypeRow> => {
  const { tenant_id: tenantId, _id: appId } = await appOfPath(located);
  const found = await located.use.find(tenantId, appId, located.params["activityType"] ?? "");
  return existing(found, "live activity type");
};

const routes = [
  route({
    id: "listLiveActivityTypes",
    method: "GET",
    path: ofTypes,
    summary: "List the live activity types of an app",
    tag,
    scopes: ["admin"],
    status: [200],
    reply: LiveActivityTypeList,
    locate: appOfPath,
    handle: async ({ use, resource: { tenant_id, _id } }) => ({
      body: { data: (await use.ofApp(tenant_id, _id)).map(activityTypeView) },
    }),
  }),

  route({
    id: "createLiveActivityType",
    method: "POST",
    path: ofTypes,
    summary: "Make a live activity type",
    tag,
    scopes: ["admin"],
    status: [201],
    errors: ["HS_ALREADY_EXISTS", "HS_QUOTA_EXCEEDED"],
    body: CreateLiveActivityType,
    reply: LiveActivityType,
    locate: appOfPath,
    inPlan: activitiesInPlan,
    repeatable: {
      made: async ({ use, resource: app, newId }) => {
        const made = await use.find(app.tenant_id, app._id, newId("liveActivityType"));
        return made && { body: activityTypeView(made) };
      },
    },
    handle: async ({ use, caller, ip, body, resource, newId }) => ({
      body: activityTypeView(await use.create({ caller, ip }, resource, newId("liveActivityType"), body)),
    }),
  }),

  route({
    id: "updateLiveActivityType",
    method: "PATCH",
    path: ofType,
    summary: "Change a live activity type, found by its id, else by its name",
    tag,
    scopes: ["admin"],
    status: [200],
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    body: UpdateLiveActivityType,
    reply: LiveActivityType,
    locate: activityTypeOfPath,
    inPlan: activitiesInPlan,
    handle: async ({ use, caller, ip, body, resource }) => ({
      body: activityTypeView(await use.update({ caller, ip }, resource, body)),
    }),
  }),

  route({
    id: "deleteLiveActivityType",
    method: "DELETE",
    path: ofType,
    summary: "Remove a live activity type, found by its id, else by its name",
    tag,
    scopes: ["admin"],
    status: [200],
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    reply: OkReply,
    locate: activityTypeOfPath,
    handle: async ({ use, caller, ip, resource }) => {
      await use.remove({ caller, ip }, resource);
      return { body: { ok: true as const } };
    },
  }),
];

/** Types of live activities. */
export const liveActivities = feature({ make: activityTypes, routes, ...docs });
