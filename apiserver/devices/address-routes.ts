import { AddEmail, AddPhone, AddressAdded, ErasePerson } from "#core/schema/devices/address.ts";
import { OkReply } from "#core/schema/json/error.ts";
import { ownOf } from "../access/device.ts";
import { certainPerson } from "../access/person.ts";
import { sourceOf } from "../http/middleware/edge-limit.ts";
import { done, routeOf } from "../http/route.ts";
import { ownOfPath } from "./own.ts";
import type { DeviceUse } from "./use-cases.ts";

const route = routeOf<DeviceUse>({ tag: "Devices", scopes: "device" });
const ofOne = "/sdk/v1/subscriptions/{subscriptionId}";

const addressRoute = (
  channel: "email" | "sms",
  { id, what, body: schema }: { id: string; what: string; body: typeof AddEmail | typeof AddPhone },
) =>
  route({
    id,
    method: "POST",
    path: `${ofOne}/${channel}`,
    summary: `Give the person whose device it is ${what}`,
    status: [201, 200],
    errors: ["HS_IDENTITY_TOKEN_INVALID", "HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: schema,
    reply: AddressAdded,
    locate: ownOfPath,
    handle: async ({ use, device, body, ip }) => {
      await use.limit("sdk.auth", `${device.app._id} ${sourceOf(ip)}`);
      const { reply, isNew } = await use.addAddress(device, channel, body);
      return { body: reply, status: isNew ? 201 : 200 };
    },
  });

/** Addresses of a device's person, and their erasure. */
export const addressRoutes = [
  addressRoute("email", { id: "addDeviceEmail", what: "a mail address", body: AddEmail }),
  addressRoute("sms", { id: "addDeviceSms", what: "a phone number", body: AddPhone }),

  route({
    id: "eraseDevicePerson",
    method: "POST",
    path: "/sdk/v1/erase",
    summary: "Delete the person whose device it is, and erase them from what was sent",
    status: [202],
    errors: ["HS_IDENTITY_TOKEN_INVALID"],
    body: ErasePerson,
    reply: OkReply,
    handle: async ({ use, device, body, ip }) => {
      ownOf(device, [body]);
      await use.limit("sdk.auth", `${device.app._id} ${sourceOf(ip)}`);
      return done(use.erase(certainPerson(device)));
    },
  }),
];
