import { type Static, Type } from "typebox";
import { ChannelName, Closed, conditional, DateTime, MapOf, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns, worded } from "../json/patterns.ts";

const { Boolean: Flag, Enum, Integer, Optional, Partial, String: Text } = Type;

/** BCP 47, as the keys of language maps. */
export const Language = Text({ pattern: patterns.language, maxLength: 35 });

/** What is known of a device; `timezone` is an IANA name. */
export const Device = MapOf(
  { pattern: worded("^[a-z][a-z0-9_]{0,39}$", "must be small letters, digits and _, at most 40, a letter first") },
  Text({ maxLength: 200, pattern: patterns.noNull }),
  {
    maxProperties: 20,
    description: "model, os_version, app_version, locale, timezone, sdk, …",
  },
);

export const WebKeys = Closed(
  {
    p256dh: Text({ pattern: patterns.p256dh, description: "base64url of the browser's P-256 key, 65 bytes" }),
    auth: Text({ pattern: patterns.webPushAuth, description: "base64url of the browser's secret, 16 bytes" }),
  },
  { description: "PushSubscription.keys; only with web_push" },
);

const changeable = {
  status: Enum(["subscribed", "unsubscribed"], {
    description:
      "left out: stays as it is, and a new one is subscribed; an invalid one whose address is given again is good " +
      "again, unless its person had unsubscribed",
  }),
  language: Nullable(Language), // null: that of its user, whatever it is when something is sent
  test_device: Flag(),
  device: Device,
  badge: Integer({
    minimum: 0,
    maximum: 99_999,
    description:
      "the number at the app's icon, from which `ios_badge_type: Increase` goes on; 0 when the app was opened",
  }),
};

const browsersHaveKeys = conditional({
  when: { type: "object", properties: { channel: { const: "web_push" } }, required: ["channel"] },
  require: { type: "object", properties: { web: true }, required: ["web"] },
  otherwise: { type: "object", properties: { web: false } },
});

/** Body of `POST …/subscriptions`, and item of `subscriptions` of `POST …/users`. A known token is updated and moved. */
export const CreateSubscription = Closed(
  {
    channel: ChannelName,
    token: Text({ minLength: 1, maxLength: 4096, description: "device token, push endpoint or mail address" }),
    web: Optional(WebKeys),
    ...Partial(Closed(changeable)).properties,
  },
  browsersHaveKeys,
);
export type CreateSubscription = Static<typeof CreateSubscription>;

/** Body of `PATCH …/subscriptions/{id}`. */
export const UpdateSubscription = Closed(
  Partial(Type.Object({ token: Text({ minLength: 1, maxLength: 4096 }), web: WebKeys, ...changeable })).properties,
);
export type UpdateSubscription = Static<typeof UpdateSubscription>;

/** One device, browser or address of a user; its token is only shown masked. */
export const Subscription = Type.Object({
  id: Text(),
  app_id: Text(),
  user_id: Text(),
  external_id: Nullable(Text()),
  channel: ChannelName,
  token_masked: Text(),
  status: Enum(["subscribed", "unsubscribed", "invalid"]),
  status_reason: Nullable(Text()),
  language: Nullable(Text({ description: "its own; null: that of its user at the time of sending" })),
  test_device: Flag(),
  device: Type.Record(Text(), Text()),
  badge: Nullable(Integer({ description: "the number at the app's icon; null: never set" })),
  last_active_at: DateTime,
  unsubscribed_at: Nullable(DateTime),
  created_at: DateTime,
  updated_at: DateTime,
});
export type Subscription = Static<typeof Subscription>;

named({ CreateSubscription, UpdateSubscription, Subscription });
