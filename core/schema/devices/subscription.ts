import { type Static, Type } from "typebox";
import { clientLogLevels } from "../apps/clients.ts";
import { identityModes } from "../apps/settings.ts";
import { Closed, conditional, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns, worded } from "../json/patterns.ts";
import { Device, Language, WebKeys } from "../people/subscription.ts";
import { Aliases, FirstTags } from "../people/user.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Object: Members, Optional, String: Text } = Type;

/** Channels of which a device is the address. */
export const deviceChannels = ["ios_push", "android_push", "hms_push", "web_push"] as const;
export type DeviceChannel = (typeof deviceChannels)[number];

const statusDetail = Integer({
  minimum: -100,
  maximum: 1_000_000,
  description:
    "what the device says of its permission, in OneSignal's numbers: 1 and above subscribed, 0 no permission, -2 opted out, " +
    "-10 uninstalled, -30 disabled; errors that pass (-8, -9, -11, -12, -25, -27, -29) change nothing",
});

const changeable = {
  token: Nullable(Text({ minLength: 1, maxLength: 4096, description: "push token or endpoint; null: none yet" })),
  web: WebKeys,
  status_detail: statusDetail,
  device: Device,
  language: Nullable(Language),
};

const browsersHaveKeys = conditional({
  when: {
    type: "object",
    properties: { channel: { const: "web_push" }, token: { type: "string" } },
    required: ["channel", "token"],
  },
  require: { type: "object", properties: { web: true }, required: ["web"] },
  otherwise: { type: "object", properties: { web: false } },
});

/** Body of `POST /sdk/v1/subscriptions`. */
export const RegisterDevice = Closed(
  {
    install_id: Text({
      pattern: worded("^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", "must be a UUID"),
      maxLength: 36,
      description: "a UUID that the app makes once for each installation, and keeps to itself",
    }),
    channel: Enum([...deviceChannels]),
    external_id: Optional(
      Text({
        minLength: 1,
        maxLength: 128,
        pattern: patterns.noNull,
        description: "as whom the device logs in at once",
      }),
    ),
    tags: Optional(FirstTags),
    test_device: Optional(Flag({ description: "whether messages to test devices reach it" })),
    ...Type.Partial(Closed(changeable)).properties,
  },
  browsersHaveKeys,
);
export type RegisterDevice = Static<typeof RegisterDevice>;

/** Body of `PATCH /sdk/v1/subscriptions/{subscriptionId}`. */
export const UpdateDevice = Closed({
  ...Type.Partial(Closed(changeable)).properties,
  enabled: Optional(Flag({ description: "false: the person wants nothing more, true: they do again" })),
});
export type UpdateDevice = Static<typeof UpdateDevice>;

const status = Enum(["subscribed", "unsubscribed", "invalid"]);

/** Reply to a registration. */
export const DeviceRegistered = Type.Object({
  subscription_id: Text(),
  user_id: Text(),
  status,
  subscription_token: Nullable(
    Text({ description: "the secret of this installation, shown once; null where it has one already" }),
  ),
});
export type DeviceRegistered = Static<typeof DeviceRegistered>;

/** A subscription as its own device sees it. */
export const DeviceSubscription = Type.Object({
  subscription_id: Text(),
  user_id: Text(),
  channel: Enum([...deviceChannels]),
  has_token: Flag({ description: "whether it can be pushed to, permission given" }),
  status,
  status_reason: Nullable(Text()),
  status_detail: Nullable(Integer({ description: "what the device said last" })),
  language: Nullable(Text()),
  device: Type.Record(Text(), Text()),
  created_at: DateTime,
  updated_at: DateTime,
});
export type DeviceSubscription = Static<typeof DeviceSubscription>;

/** Reply to `GET /sdk/v1/config`: what a client has to know of its app. */
export const DeviceConfig = Type.Object({
  identity_verification: Enum([...identityModes], { description: "whether identity tokens are asked for" }),
  vapid_public_key: Nullable(Text({ description: "of the app's web push account, base64url; null without one" })),
  android_channels: List(
    Type.Object({ id: Text(), name: Text(), importance: Text() }, { description: "a notification channel" }),
    { description: "that an app makes on Android, by the app's setting `android_channels`" },
  ),
  receipts_enabled: Flag({ description: "whether receipts are taken" }),
  session_threshold_s: Integer({ description: "seconds away after which a client begins another session" }),
  in_app_enabled: Flag({ description: "whether the app has in-app messages that devices may be shown" }),
  log_level: Enum([...clientLogLevels], { description: "what a client writes into its log" }),
  inbox_enabled: Flag({ description: "whether messages are kept in inboxes" }),
  outcomes: Type.Object({
    direct_minutes: Integer(),
    influenced_minutes: Integer(),
    influenced_limit: Integer(),
  }),
});
export type DeviceConfig = Static<typeof DeviceConfig>;

export const clientPlatforms = ["ios", "android", "huawei", "web"] as const;
export type ClientPlatform = (typeof clientPlatforms)[number];

/** Query of `GET /sdk/v1/config`. */
export const DeviceConfigQuery = Members({
  platform: Optional(
    Enum([...clientPlatforms], {
      description: "what the client runs on: what is of other platforms alone is left empty; left out: all is shown",
    }),
  ),
});
export type DeviceConfigQuery = Static<typeof DeviceConfigQuery>;

/** Body of `POST /sdk/v1/login`. */
export const DeviceLogin = Closed({
  external_id: Text({
    minLength: 1,
    maxLength: 128,
    pattern: patterns.noNull,
    description: "who the person is for the app",
  }),
  aliases: Optional(Aliases),
  subscription_id: Optional(Text({ description: "of the device itself" })),
});
export type DeviceLogin = Static<typeof DeviceLogin>;

/** Body of `POST /sdk/v1/logout`. */
export const DeviceLogout = Closed({ subscription_id: Optional(Text({ description: "of the device itself" })) });
export type DeviceLogout = Static<typeof DeviceLogout>;

export const DeviceLoggedIn = Type.Object({
  user_id: Text(),
  merged: Flag({ description: "whether the anonymous user before became part of this one" }),
  claimed: List(Text(), { description: "labels of `aliases` whose ids are another person's, and stay theirs" }),
});
export type DeviceLoggedIn = Static<typeof DeviceLoggedIn>;

export const DeviceLoggedOut = Type.Object({ user_id: Text({ description: "of the anonymous user from now on" }) });
export type DeviceLoggedOut = Static<typeof DeviceLoggedOut>;

named({
  DeviceLogin,
  DeviceLogout,
  DeviceLoggedIn,
  DeviceLoggedOut,
  RegisterDevice,
  UpdateDevice,
  DeviceRegistered,
  DeviceSubscription,
  DeviceConfig,
});
