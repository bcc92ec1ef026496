import { OkReply } from "#core/schema/json/error.ts";
import { ForgetToken, SetActivityToken, SetStartToken } from "#core/schema/live-activities/device-tokens.ts";
import { ownOf } from "../access/device.ts";
import { done, routeOf } from "../http/route.ts";
import type { LiveActivityUse } from "./use-cases.ts";

const route = routeOf<LiveActivityUse>({ tag: "Live activities", scopes: "device" });
const activities = "/sdk/v1/live-activities";
const startToken = `${activities}/{activityType}/push-to-start-token`;
const activityToken = `${activities}/activities/{activityId}/token`;

/** What devices say of live activities, without a server of the app's. */
export const deviceTokenRoutes = [
  route({
    id: "setStartToken",
    method: "PUT",
    path: startToken,
    summary: "Take a device's token to start live activities of a type with",
    body: SetStartToken,
    reply: OkReply,
    handle: ({ use, device, params: { activityType = "" }, body }) =>
      done(use.ofDevice.setStart(device.app, ownOf(device, [body]), activityType, body)),
  }),

  route({
    id: "forgetStartToken",
    method: "DELETE",
    path: startToken,
    summary: "Forget a device's token to start live activities of a type with",
    body: ForgetToken,
    reply: OkReply,
    handle: ({ use, device, params: { activityType = "" }, body }) =>
      done(use.ofDevice.forgetStart(ownOf(device, [body]), activityType)),
  }),

  route({
    id: "setActivityToken",
    method: "PUT",
    path: activityToken,
    summary: "Take a device's token for updates of a live activity",
    errors: ["HS_CONFLICT"],
    body: SetActivityToken,
    reply: OkReply,
    handle: ({ use, device, params: { activityId = "" }, body }) =>
      done(use.ofDevice.set(ownOf(device, [body]), activityId, body)),
  }),

  route({
    id: "forgetActivityToken",
    method: "DELETE",
    path: activityToken,
    summary: "Forget a device's token for updates of a live activity",
    body: ForgetToken,
    reply: OkReply,
    handle: ({ use, device, params: { activityId = "" }, body }) =>
      done(use.ofDevice.forget(ownOf(device, [body]), activityId)),
  }),
];
