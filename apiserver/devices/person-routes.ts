import { DeviceUser, SetDeviceAlias, UpdateDeviceUser } from "#core/schema/devices/person.ts";
import { Preferences, SetPreferences } from "#core/schema/devices/preferences.ts";
import { ownPerson, reportingPerson, vouchedPerson } from "../access/person.ts";
import { routeOf } from "../http/route.ts";
import type { DeviceUse } from "./use-cases.ts";

const route = routeOf<DeviceUse>({ tag: "Devices", scopes: "device" });
const alias = "/sdk/v1/user/aliases/{label}";

/** What a device says of the person whose it is. */
export const personRoutes = [
  route({
    id: "updateDeviceUser",
    method: "PATCH",
    path: "/sdk/v1/user",
    summary: "Change tags and properties of the person whose device it is",
    errors: ["HS_IDENTITY_TOKEN_INVALID", "HS_CONFLICT"],
    body: UpdateDeviceUser,
    reply: DeviceUser,
    handle: async ({ use, device, body }) => ({ body: await use.person.update(reportingPerson(device), body) }),
  }),

  route({
    id: "getPreferences",
    method: "GET",
    path: "/sdk/v1/user/preferences",
    summary: "Show what the person whose device it is wants",
    errors: ["HS_IDENTITY_TOKEN_INVALID"],
    reply: Preferences,
    handle: async ({ use, device }) => ({ body: await use.preferences.show(device.app, ownPerson(device)) }),
  }),

  route({
    id: "setPreferences",
    method: "PUT",
    path: "/sdk/v1/user/preferences",
    summary: "Set which categories a person wants on which channels, and their quiet hours",
    errors: ["HS_IDENTITY_TOKEN_INVALID", "HS_CONFLICT"],
    body: SetPreferences,
    reply: Preferences,
    handle: async ({ use, device, body }) => ({ body: await use.preferences.set(device.app, ownPerson(device), body) }),
  }),

  route({
    id: "setDeviceAlias",
    method: "PUT",
    path: alias,
    summary: "Give the person whose device it is an id under a label",
    errors: ["HS_IDENTITY_TOKEN_INVALID", "HS_ALIAS_CLAIMED", "HS_CONFLICT"],
    body: SetDeviceAlias,
    reply: DeviceUser,
    handle: async ({ use, device, params: { label = "" }, body: { id } }) => ({
      body: await use.person.setAlias(vouchedPerson(device, { [label]: id }), label, id),
    }),
  }),

  route({
    id: "removeDeviceAlias",
    method: "DELETE",
    path: alias,
    summary: "Take an id from the person whose device it is",
    errors: ["HS_IDENTITY_TOKEN_INVALID", "HS_CONFLICT"],
    reply: DeviceUser,
    handle: async ({ use, device, params: { label = "" } }) => ({
      body: await use.person.removeAlias(vouchedPerson(device, {}), label),
    }),
  }),
];
