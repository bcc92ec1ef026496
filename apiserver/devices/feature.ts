import {
  DeviceEvents,
  DeviceReceipts,
  ReceiptsAccepted,
  ReportSession,
  SessionReported,
} from "#core/schema/devices/reports.ts";
import {
  DeviceConfig,
  DeviceConfigQuery,
  DeviceLoggedIn,
  DeviceLoggedOut,
  DeviceLogin,
  DeviceLogout,
  DeviceRegistered,
  DeviceSubscription,
  RegisterDevice,
  UpdateDevice,
} from "#core/schema/devices/subscription.ts";
import { EventsAccepted } from "#core/schema/events/custom.ts";
import { OkReply } from "#core/schema/json/error.ts";
import { ownOf } from "../access/device.ts";
import { feature } from "../http/feature.ts";
import { sourceOf } from "../http/middleware/edge-limit.ts";
import { done, routeOf } from "../http/route.ts";
import { addressRoutes } from "./address-routes.ts";
import { docs } from "./openapi.ts";
import { ownOfPath } from "./own.ts";
import { personRoutes } from "./person-routes.ts";
import { type DeviceUse, deviceUseCases } from "./use-cases.ts";
import { configOf, deviceView } from "./views.ts";

const route = routeOf<DeviceUse>({ tag: "Devices", scopes: "device" });
const path = "/sdk/v1/subscriptions";
const ofOne = `${path}/{subscriptionId}`;

const routes = [
  route({
    id: "getDeviceConfig",
    method: "GET",
    path: "/sdk/v1/config",
    summary: "Show what a client has to know of its app",
    scopes: "app",
    hasEtag: true,
    query: DeviceConfigQuery,
    reply: DeviceConfig,
    handle: async ({ use, device, query }) => ({
      body: configOf(device.app, { platform: query.platform, hasInApp: await use.hasInApp(device.app) }),
    }),
  }),

  route({
    id: "registerDevice",
    method: "POST",
    path,
    summary: "Register a device, which gets a secret of its own",
    scopes: "app",
    status: [201, 200],
    errors: ["HS_IDENTITY_TOKEN_INVALID", "HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: RegisterDevice,
    reply: DeviceRegistered,
    handle: async ({ use, device, body, ip, signal }) => {
      await use.limit("sdk.auth", `${device.app._id} ${sourceOf(ip)}`);
      const { row, secret, isNew } = await use.register(device, body, signal);
      const { _id: subscription_id, user_id, status } = row;
      return { body: { subscription_id, user_id, status, subscription_token: secret }, status: isNew ? 201 : 200 };
    },
  }),

  route({
    id: "getDevice",
    method: "GET",
    path: ofOne,
    summary: "Show a device its subscription",
    reply: DeviceSubscription,
    locate: ownOfPath,
    handle: async ({ resource }) => ({ body: deviceView(resource) }),
  }),

  route({
    id: "updateDevice",
    method: "PATCH",
    path: ofOne,
    summary: "Change the subscription of a device",
    errors: ["HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: UpdateDevice,
    reply: DeviceSubscription,
    locate: ownOfPath,
    handle: async ({ use, device, body, resource }) => ({
      body: deviceView(await use.update(device, resource, body)),
    }),
  }),

  route({
    id: "deleteDevice",
    method: "DELETE",
    path: ofOne,
    summary: "Delete the subscription of a device",
    reply: OkReply,
    locate: ownOfPath,
    handle: ({ use, resource }) => done(use.remove(resource)),
  }),

  route({
    id: "logInDevice",
    method: "POST",
    path: "/sdk/v1/login",
    summary: "Make a device that of a person whom the app knows",
    errors: ["HS_IDENTITY_TOKEN_INVALID", "HS_CONFLICT"],
    body: DeviceLogin,
    reply: DeviceLoggedIn,
    handle: async ({ use, device, body, ip, signal }) => {
      ownOf(device, [body]);
      await use.limit("sdk.auth", `${device.app._id} ${sourceOf(ip)}`);
      return { body: await use.logIn(device, body, signal) };
    },
  }),

  route({
    id: "logOutDevice",
    method: "POST",
    path: "/sdk/v1/logout",
    summary: "Give a device to a new anonymous user",
    errors: ["HS_CONFLICT"],
    body: DeviceLogout,
    reply: DeviceLoggedOut,
    handle: async ({ use, device, body, ip }) => {
      ownOf(device, [body]);
      await use.limit("sdk.auth", `${device.app._id} ${sourceOf(ip)}`);
      return { body: await use.logOut(device) };
    },
  }),

  route({
    id: "reportSession",
    method: "POST",
    path: "/sdk/v1/sessions",
    summary: "Count a session of the person whose device it is",
    status: [202],
    body: ReportSession,
    reply: SessionReported,
    handle: async ({ use, device, body }) => ({ body: await use.session(ownOf(device, [body]), body) }),
  }),

  route({
    id: "reportReceipts",
    method: "POST",
    path: "/sdk/v1/receipts",
    summary: "Report what became of messages on a device",
    status: [202],
    body: DeviceReceipts,
    reply: ReceiptsAccepted,
    handle: async ({ use, device, body }) => ({
      body: await use.receipts(device.app, ownOf(device, body.receipts), body),
    }),
  }),

  route({
    id: "publishDeviceEvents",
    method: "POST",
    path: "/sdk/v1/events",
    summary: "Accept events of the person whose device it is",
    status: [202],
    body: DeviceEvents,
    reply: EventsAccepted,
    handle: async ({ use, device, body, traceparent }) => ({
      body: await use.events(device, ownOf(device, body.events), { ...body, traceparent }),
    }),
  }),
];

/** What phones and browsers call themselves. */
export const devices = feature({
  make: deviceUseCases,
  routes: [...routes, ...personRoutes, ...addressRoutes],
  ...docs,
});
