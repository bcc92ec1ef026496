import { OkReply } from "#core/schema/json/error.ts";
import { DeleteLiveActivityTypeQuery } from "#core/schema/live-activities/activity.ts";
import {
  CreateLiveActivityType,
  LiveActivityType,
  LiveActivityTypeList,
  UpdateLiveActivityType,
} from "#core/schema/live-activities/type.ts";
import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { feature } from "../http/feature.ts";
import { done, routeOf } from "../http/route.ts";
import { settingRoutes } from "../settings/routes.ts";
import { channelRoutes } from "./channel-routes.ts";
import { deviceTokenRoutes } from "./device-routes.ts";
import { docs } from "./openapi.ts";
import { sendRoutes, typeOfPath } from "./send-routes.ts";
import { type LiveActivityUse, liveActivityUseCases } from "./use-cases.ts";

const schemas = {
  create: CreateLiveActivityType,
  update: UpdateLiveActivityType,
  view: LiveActivityType,
  made: LiveActivityType,
  list: LiveActivityTypeList,
};

const types = settingRoutes<LiveActivityTypeRow, typeof schemas>({
  name: "LiveActivityType",
  what: "live activity type",
  tag: "Live activities",
  path: "/v1/apps/{appId}/live-activities/types",
  parameter: "activityType",
  idKind: "liveActivityType",
  feature: "live_activities",
  schemas,
  summaries: {
    list: "List the live activity types of an app",
    create: "Make a live activity type",
    get: "Show a live activity type, found by its id, else by its name",
    update: "Change a live activity type, found by its id, else by its name",
    remove: "Remove a live activity type, found by its id, else by its name",
  },
  errors: ["HS_ALREADY_EXISTS"],
});

/** As the usual removal of a setting; a query says what becomes of running activities. */
const remove = routeOf<LiveActivityUse>({ tag: "Live activities", scopes: ["admin"] })({
  id: "deleteLiveActivityType",
  method: "DELETE",
  path: "/v1/apps/{appId}/live-activities/types/{activityType}",
  summary: "Remove a live activity type, found by its id, else by its name",
  errors: ["HS_MANAGED", "HS_CONFLICT"],
  query: DeleteLiveActivityTypeQuery,
  reply: OkReply,
  locate: typeOfPath,
  handle: ({ use, caller, ip, requestId, query, resource }) =>
    done(use.removeType({ caller, ip, requestId }, resource, query.force === true)),
});

/** Types of live activities, what is sent of them, and the tokens that devices report. */
export const liveActivities = feature({
  make: liveActivityUseCases,
  routes: [types.list, types.create, types.update, remove, ...sendRoutes, ...channelRoutes, ...deviceTokenRoutes],
  ...docs,
});
