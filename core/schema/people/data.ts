import { type Static, Type } from "typebox";
import { InboxItem } from "../inbox/item.ts";
import { ChannelName, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { Delivery } from "../messages/delivery.ts";
import { Suppression } from "../suppressions/suppression.ts";
import { User } from "./user.ts";

const { Array: List, Number: Amount, String: Text } = Type;

/** What a reply has at most. Source: docs/reference/people.md#personal-data. */
export const personalDataBytes = 10_000_000;

const Address = Type.Object({
  subscription_id: Text(),
  channel: ChannelName,
  token: Text({ description: "unmasked" }),
});

const StoredEvent = Type.Object({
  id: Text(),
  name: Text(),
  subscription_id: Nullable(Text()),
  properties: Type.Object({}, { additionalProperties: true }),
  value: Nullable(Amount()),
  source: Text(),
  occurred_at: DateTime,
  received_at: DateTime,
});

/** Reply of `GET …/users/by/{label}/{id}/data`: what is stored about a person. */
export const PersonalData = Type.Object({
  user: User,
  addresses: List(Address, { description: "of the user's subscriptions" }),
  suppressions: List(Suppression, { description: "entries about the user or one of these addresses" }),
  events: List(StoredEvent, { description: "custom events" }),
  deliveries: List(Delivery, { description: "what was sent to them" }),
  inbox: List(InboxItem, { description: "what their inbox shows" }),
  generated_at: DateTime,
});
export type PersonalData = Static<typeof PersonalData>;

named({ PersonalData });
