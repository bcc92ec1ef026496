import { OkReply } from "#core/schema/json/error.ts";
import {
  CreateLiveActivityType,
  LiveActivityType,
  LiveActivityTypeList,
  UpdateLiveActivityType,
} from "#core/schema/live-activities/type.ts";
import type { Caller } from "../access/caller.ts";
import { activityTypeOfPath, appOfPath } from "../access/locate.ts";
import { route } from "../http/route.ts";
import type { UseCases } from "../platform.ts";
import { activityTypeView } from "./views.ts";

const tag = "Live activities";
const ofTypes = "/v1/apps/{appId}/live-activities/types";
const ofType = `${ofTypes}/{activityType}`;

/** Reading and removing what there is needs no plan; making and changing does. */
const activitiesInPlan = (caller: Caller, _resource: unknown, use: UseCases): Promise<void> =>
  use.activityTypes.requireFeature(caller);

export const liveActivityRoutes = [
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
      body: { data: (await use.activityTypes.ofApp(tenant_id, _id)).map(activityTypeView) },
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
    errors: ["HS_PLAN_FEATURE_REQUIRED", "HS_ALREADY_EXISTS", "HS_QUOTA_EXCEEDED"],
    body: CreateLiveActivityType,
    reply: LiveActivityType,
    locate: appOfPath,
    inPlan: activitiesInPlan,
    repeatable: {
      made: async ({ use, resource: app, newId }) => {
        const made = await use.activityTypes.find(app.tenant_id, app._id, newId("liveActivityType"));
        return made && { body: activityTypeView(made) };
      },
    },
    handle: async ({ use, caller, ip, body, resource, newId }) => ({
      body: activityTypeView(await use.activityTypes.create({ caller, ip }, resource, newId("liveActivityType"), body)),
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
    errors: ["HS_PLAN_FEATURE_REQUIRED", "HS_MANAGED", "HS_CONFLICT"],
    body: UpdateLiveActivityType,
    reply: LiveActivityType,
    locate: activityTypeOfPath,
    inPlan: activitiesInPlan,
    handle: async ({ use, caller, ip, body, resource }) => ({
      body: activityTypeView(await use.activityTypes.update({ caller, ip }, resource, body)),
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
      await use.activityTypes.remove({ caller, ip }, resource);
      return { body: { ok: true as const } };
    },
  }),
];
