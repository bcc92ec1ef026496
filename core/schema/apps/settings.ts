import { type Static, type TSchema, Type } from "typebox";
import { Closed, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns, worded } from "../json/patterns.ts";
import { identityAlgorithms } from "../vocabulary/identity-algorithms.ts";
import type { PlanFeature } from "../vocabulary/plan-features.ts";
import { AndroidChannel } from "./android-channel.ts";
import { clientSettings } from "./clients.ts";
import { FrequencyCap } from "./frequency-cap.ts";
import { Languages, Pages } from "./pages.ts";
import { QuietHours } from "./quiet-hours.ts";

const { Enum, Integer, Optional, String: Text } = Type;

const instant = (description: string) =>
  Type.Union([Text({ format: "date-time", maxLength: 40 }), Type.Null()], { default: null, description });

const Holdout = Closed(
  {
    percent: Integer({ default: 0, minimum: 0, maximum: 10, description: "part of the people; 0: nobody" }),
    salt: Text({ default: "", maxLength: 64, description: "another one chooses other people" }),
    starts_at: instant("since when"),
    ends_at: instant("until when, at most 180 days"),
    exempt_categories: Type.Array(Text({ minLength: 1, maxLength: 64 }), {
      default: [],
      maxItems: 20,
      description: "categories of messages that they get nevertheless",
    }),
  },
  { description: "people who get no messages, so that the effect of all messages can be measured; the same for all" },
);

/** What becomes of recipients for whom the time of day has passed when a message starts. */
export const missedLocalTimes = ["next_day", "send_now", "skip"] as const;
export type MissedLocalTime = (typeof missedLocalTimes)[number];

const Outcomes = Closed(
  {
    direct_minutes: Integer({
      default: 1440,
      minimum: 1,
      maximum: 1440,
      description: "minutes after a click in which a conversion counts for it",
    }),
    influenced_minutes: Integer({
      default: 1440,
      minimum: 1,
      maximum: 1440,
      description: "minutes after a delivery in which a conversion without a click counts for it",
    }),
    influenced_limit: Integer({
      default: 10,
      minimum: 1,
      maximum: 10,
      description: "deliveries at most that such a conversion names",
    }),
  },
  { description: "what led to a conversion" },
);

const Inbox = Closed(
  {
    enabled: Type.Boolean({ default: true, description: "whether messages may ask to be kept in it" }),
    ttl_days: Integer({
      default: 30,
      minimum: 1,
      maximum: 365,
      description: "days after which an item goes whose message says no inbox_ttl",
    }),
    max_items: Integer({
      default: 1000,
      minimum: 1,
      maximum: 1000,
      description: "items of one person; where there are as many a new one takes the place of an old one",
    }),
  },
  { description: "what messages with add_to_inbox leave for each person" },
);

/** What becomes of a message to a conversation that was closed. */
export const reopenRules = ["within_hours", "same", "new"] as const;

const Conversations = Closed(
  {
    auto_close_hours: Integer({
      default: 72,
      minimum: 0,
      maximum: 8_760,
      description: "hours without a change after which one that is open or pending is closed; 0: never",
    }),
    reopen: Enum([...reopenRules], {
      default: "within_hours",
      description:
        "what a message of the person does to one that was closed: within_hours opens it again for reopen_hours after " +
        "that, same always; new begins another one",
    }),
    reopen_hours: Integer({
      default: 24,
      minimum: 0,
      maximum: 720,
      description: "hours after its end in which a message opens it again",
    }),
    ad_session: Type.Boolean({
      default: true,
      description:
        "whether the first answer to somebody whom an advertisement led to WhatsApp opens a session of 72 hours",
    }),
  },
  { description: "when conversations and sessions end" },
);

/** Whether devices have to show that the app's server vouches for their person. */
export const identityModes = ["off", "optional", "required"] as const;

const IdentityKey = Closed(
  {
    kid: Text({
      minLength: 1,
      maxLength: 64,
      pattern: worded("^[A-Za-z0-9._-]+$", "must be letters, digits, _, . and -"),
      description: "the key's name, which tokens have as `kid`",
    }),
    alg: Enum([...identityAlgorithms], { description: "what it signs with" }),
    public_key: Text({ minLength: 1, maxLength: 4096, description: "in PEM, or a JWK" }),
  },
  { description: "a key of the app's server" },
);

/**
 * Every setting of an app, a line each: its schema, with a default and a description. The REST interface's
 * `GET` and `PATCH …/settings`, `spec.settings` of the App resource, what `settingsOf` gives (core/domain/apps/settings.ts) and
 * the table of docs/reference/settings.md follow from it. A setting is added here with what reads it, never before: one that is
 * not here is refused by name. What its schema cannot say is a line of core/domain/apps/setting-rules.ts; the feature that it
 * needs of the plan a line of `settingFeatures` below. An object's members have defaults of their own.
 */
export const settingSchemas = {
  time_zone: Text({
    default: "UTC",
    minLength: 1,
    maxLength: 64,
    pattern: patterns.timeZone,
    description: "IANA name of the app's time zone, such as Europe/Berlin",
  }),
  idempotency_mismatch: Enum(["replay", "reject"], {
    default: "replay",
    description: "a reused idempotency key with another body: replay answers the first result, reject answers 422",
  }),
  import_huawei_as: Enum(["android_push", "hms_push"], {
    default: "android_push",
    description: "what imports of the type thirdparty_players take the tokens of Huawei devices (device_type 13) for",
  }),
  quiet_hours: QuietHours,
  exempt_categories: Type.Array(Text({ minLength: 1, maxLength: 64 }), {
    default: [],
    maxItems: 20,
    description:
      "categories of messages that no quiet hours hold back and no frequency cap counts, such as codes to log in with",
  }),
  frequency_caps: Type.Array(FrequencyCap, {
    default: [],
    maxItems: 20,
    description: "how many messages somebody gets at most; what is beyond is suppressed",
  }),
  throttle_default: Integer({
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    description: "sends a minute of each message that does not say another throttle_rate_per_minute; 0: no throttle",
  }),
  local_time_missed: Enum([...missedLocalTimes], {
    default: "next_day",
    description:
      "what becomes of recipients by local time for whom the time of day has passed on the app's day when the message starts: " +
      "next_day, send_now, or skip, who are suppressed",
  }),
  holdout: Holdout,
  outcomes: Outcomes,
  retention_days: Type.Union([Integer({ minimum: 1, maximum: 3650 }), Type.Null()], {
    default: null,
    description:
      "days that messages, their deliveries and custom events are kept, at most those of the plan; null: as the plan says",
  }),
  redact_payloads: Type.Boolean({
    default: false,
    description:
      "whether all notifications are sent as with redact_payload: what they say is shown nowhere, and not kept",
  }),
  export_emails: Type.Array(Text({ format: "email", maxLength: 254 }), {
    default: [],
    maxItems: 20,
    description: "addresses that the link to a finished file may be mailed to, by email of a notification's history",
  }),
  inbox: Inbox,
  identity_verification: Enum([...identityModes], {
    default: "optional",
    description:
      "whether a device shows an identity token for its person: required: to log in and to read an inbox; optional: " +
      "without one it may log in, and its inbox begins then; off: its secret is enough",
  }),
  identity_keys: Type.Array(IdentityKey, {
    default: [],
    maxItems: 5,
    description: "public keys of the app's server, by which identity tokens are verified",
  }),
  android_channels: Type.Array(AndroidChannel, {
    default: [],
    maxItems: 50,
    description: "notification channels that the app makes on Android; devices are told",
  }),
  ...clientSettings,
  conversations: Conversations,
  languages: Languages,
  pages: Pages,
};

/** What a setting that has an effect needs of the plan; one that is not here needs nothing. */
export const settingFeatures: Partial<Record<SettingName, PlanFeature>> = {
  quiet_hours: "quiet_hours",
  frequency_caps: "frequency_caps",
  holdout: "ab_testing",
  identity_keys: "identity_verification",
};

export type SettingName = keyof typeof settingSchemas;

// sound: these are its keys
export const settingNames = Object.keys(settingSchemas) as SettingName[];

/** The settings of an app, each with the value that counts. Source: docs/reference/settings.md. */
export const AppSettings = Type.Object(settingSchemas);
export type AppSettings = Static<typeof AppSettings>;

type Partly<Value> = Value extends readonly (infer Item)[]
  ? readonly Partly<Item>[]
  : Value extends object
    ? Partial<Value>
    : Value;

/** What somebody has set: null, or nothing, is the default; so is what an object leaves out. */
export type SettingValues = { [Name in SettingName]?: Partly<AppSettings[Name]> | null };

/** An object may leave members out that have a default. */
const partly = (schema: TSchema): TSchema => {
  if (Type.IsArray(schema)) return Type.Unsafe({ ...schema, items: partly(schema.items) });
  if (!Type.IsObject(schema)) return schema;
  const members = Object.entries(schema.properties).map(
    ([name, member]) => [name, "default" in member ? Optional(member) : member] as const,
  );
  return Closed(Object.fromEntries(members), { description: descriptionOf(schema) });
};

const descriptionOf = (schema: TSchema): string =>
  "description" in schema && typeof schema.description === "string" ? schema.description : "";

/** Body of `PATCH …/settings`. */
export const UpdateAppSettings = Type.Unsafe<SettingValues>(
  Closed(
    Object.fromEntries(
      Object.entries(settingSchemas).map(([name, schema]) => [name, Optional(Nullable(partly(schema)))]),
    ),
  ),
);
export type UpdateAppSettings = Static<typeof UpdateAppSettings>;

named({ AppSettings, UpdateAppSettings });
