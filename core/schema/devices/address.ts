import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { named } from "../json/named.ts";

const { Boolean: Flag, Enum, Optional, String: Text } = Type;

const opted_in = Optional(
  Flag({
    description:
      "true: the person wants messages there, also if they had unsubscribed; false: none; left out: as it was",
  }),
);

/** Body of `POST /sdk/v1/subscriptions/{subscriptionId}/email`. */
export const AddEmail = Closed({
  address: Text({ minLength: 1, maxLength: 320, description: "a mail address" }),
  opted_in,
});
export type AddEmail = Static<typeof AddEmail>;

/** Body of `POST /sdk/v1/subscriptions/{subscriptionId}/sms`. */
export const AddPhone = Closed({
  address: Text({ minLength: 1, maxLength: 64, description: "a phone number with country code" }),
  opted_in,
});
export type AddPhone = Static<typeof AddPhone>;

/** Reply to it. */
export const AddressAdded = Type.Object({
  subscription_id: Text(),
  user_id: Text(),
  channel: Enum(["email", "sms"]),
  status: Enum(["subscribed", "unsubscribed", "invalid"]),
});
export type AddressAdded = Static<typeof AddressAdded>;

/** Body of `POST /sdk/v1/erase`. */
export const ErasePerson = Closed({
  subscription_id: Optional(Text({ minLength: 1, maxLength: 64, description: "the device's own" })),
});
export type ErasePerson = Static<typeof ErasePerson>;

named({ AddEmail, AddPhone, AddressAdded, ErasePerson });
