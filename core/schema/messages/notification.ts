import { type Static, Type } from "typebox";
import { ChannelName, Closed, conditional, LanguageMap, MapOf, Nullable, OrEmpty, Url } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns, worded } from "../json/patterns.ts";
import { RcsContent, WhatsappContent } from "./chat.ts";
import { FallbackStep } from "./fallback.ts";
import { ControlPercent } from "./optimized.ts";
import type { ReplyContent } from "./reply-content.ts";
import { AskedWinner } from "./winner.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Number: Num, Optional, Partial, String: Text, Unknown } = Type;

/** Who is targeted: the union of the selectors. Source: docs/reference/messages.md#targets. */
export const Target = Closed(
  {
    all: Optional(Flag({ description: "every subscription of the app" })),
    include_subscription_ids: Optional(List(Text({ pattern: patterns.subscriptionId }), { maxItems: 2000 })),
    include_external_ids: Optional(List(Text({ minLength: 1, maxLength: 255 }), { maxItems: 2000 })),
    include_aliases: Optional(
      MapOf({ pattern: patterns.aliasLabel }, List(Text({ minLength: 1, maxLength: 255 }), { maxItems: 2000 }), {
        maxProperties: 10,
        description: "alias label to ids; `external_id` and `user_id` are labels too",
        allOf: [{ type: "object", properties: { user_id: List(Text({ pattern: patterns.userId })) } }],
      }),
    ),
    included_segments: Optional(List(Text({ minLength: 1, maxLength: 128 }), { maxItems: 50 })),
    excluded_segments: Optional(List(Text({ minLength: 1, maxLength: 128 }), { maxItems: 50 })),
    filters: Optional(Unknown({ description: "a segment definition: all, any or none of conditions" })),
    channels: Optional(List(ChannelName, { minItems: 1, maxItems: 8 })),
    test_devices_only: Optional(Flag({ description: "only subscriptions marked as test devices" })),
    email_to: Optional(List(Text({ format: "email", maxLength: 320 }), { maxItems: 2000 })),
    include_phone_numbers: Optional(List(Text({ minLength: 1, maxLength: 32 }), { maxItems: 2000 })),
  },
  { minProperties: 1 },
);
export type Target = Static<typeof Target>;

const Address = OrEmpty(Url);

const Button = Closed({
  id: Text({ minLength: 1, maxLength: 64 }),
  text: Text({ minLength: 1, maxLength: 100 }),
  icon: Optional(Address),
  url: Optional(Address),
});

const text = {
  headings: LanguageMap,
  contents: LanguageMap,
  subtitle: LanguageMap,
};

const linksAndData = {
  url: Address,
  app_url: Address,
  data: MapOf({ minLength: 1, maxLength: 100 }, Text({ maxLength: 1000 }), { maxProperties: 50 }),
  buttons: List(Button, { maxItems: 3 }),
  big_picture: Address,
};

const ios = {
  ios_attachments: MapOf({ minLength: 1, maxLength: 100 }, Url, { maxProperties: 10 }),
  ios_sound: Text({ maxLength: 100 }),
  ios_badge_type: Enum(["None", "SetTo", "Increase"], {
    description: "Increase adds to the subscription's `badge`, once for each delivery; SetTo when left out",
  }),
  ios_badge_count: Integer({ minimum: 0, maximum: 99_999, description: "to set, or to add (1 when left out)" }),
  ios_interruption_level: Enum(["passive", "active", "time-sensitive", "critical"]),
  ios_category: Text({ maxLength: 100 }),
  thread_id: Text({ maxLength: 100 }),
  ios_relevance_score: Num({ minimum: 0, maximum: 1 }),
  target_content_identifier: Text({ maxLength: 200 }),
  mutable_content: Flag(),
  content_available: Flag({
    description: "has the app run in the background; without text, sound or badge nothing is shown",
  }),
};

const android = {
  android_channel_id: Text({ maxLength: 100 }),
  android_group: Text({ maxLength: 100 }),
  android_sound: Text({ maxLength: 100 }),
  small_icon: Text({ maxLength: 100 }),
  large_icon: Text({ maxLength: 2000, description: "an address or the name of a resource of the app" }),
  android_accent_color: Text({
    pattern: worded("^[0-9A-Fa-f]{8}$", "must be a colour of 8 hexadecimal digits, AARRGGBB"),
    description: "AARRGGBB",
  }),
  android_visibility: Enum([1, 0, -1]),
};

const web = {
  chrome_web_icon: Address,
  chrome_web_image: Address,
  chrome_web_badge: Address,
  web_push_topic: Text({
    maxLength: 32,
    pattern: worded("^[A-Za-z0-9_-]*$", "must be letters, digits, - and _"),
    description: "RFC 8030 5.4: URL-safe base64 characters",
  }),
  web_buttons: List(Button, { maxItems: 2 }),
  require_interaction: Flag(),
};

const email = {
  email_subject: Text({ maxLength: 998, description: "RFC 5322 2.1.1: at most 998 characters a line" }),
  email_body: Text({ maxLength: 500_000, description: "HTML" }),
  email_mjml: Text({ maxLength: 500_000, description: "MJML, in place of `email_body`" }),
  email_preheader: Text({ maxLength: 500 }),
  email_from_name: Text({ maxLength: 200 }),
  email_from_address: OrEmpty(Text({ format: "email", maxLength: 320 })),
  email_reply_to_address: OrEmpty(Text({ format: "email", maxLength: 320 })),
  disable_email_click_tracking: Flag(),
};

const sms = {
  sms_from: Text({ minLength: 1, maxLength: 20 }),
  sms_media_urls: List(Url, { maxItems: 10 }),
  disable_sms_link_shortening: Flag(),
};

/** What is said, for every channel. Kept as sent in `messages.content`. */
export const Content = Partial(
  Closed({
    ...text,
    ...linksAndData,
    ...ios,
    ...android,
    ...web,
    ...email,
    ...sms,
    ...WhatsappContent,
    ...RcsContent,
    custom_data: MapOf({ minLength: 1, maxLength: 255 }, Unknown()),
  }),
);
export type Content = Static<typeof Content> & ReplyContent;

/** How it is delivered. Kept as sent in `messages.options`. */
export const Options = Partial(
  Closed({
    collapse_id: Text({
      maxLength: 64,
      description: "a later push with the same value replaces this one, also while it waits to be tried again",
    }),
    priority: Enum([5, 10]),
    ttl: Integer({ minimum: 60, maximum: 2_419_200, description: "seconds from dispatch; default 259200" }),
    send_after: Text({
      format: "iso-date-time",
      pattern: patterns.dateTime,
      description: "not before this instant; without an offset it is UTC",
    }),
    delayed_option: Enum(["timezone", "optimized"]),
    delivery_time_of_day: Text({
      minLength: 1,
      maxLength: 16,
      pattern: patterns.timeOfDay,
      description: "of the recipients' clocks, with delayed_option timezone: 9:00, 09:00, 9:45:30, 9:00AM or 9:00 pm",
    }),
    optimized_control_percent: ControlPercent,
    throttle_rate_per_minute: Integer({
      minimum: 0,
      maximum: 1_000_000,
      description:
        "first sends a minute, all channels together, spread evenly; 0: no throttle, also where the app has one",
    }),
    one_per_user: Flag(),
    fallback: List(FallbackStep, { maxItems: 3, description: "channels for whom it did not reach before, in order" }),
    frequency_cap_exempt: Flag(),
    quiet_hours_exempt: Flag(),
    include_unsubscribed: Flag({ description: "e-mail only: reaches unsubscribed addresses, never suppressed ones" }),
    redact_payload: Flag({
      description: "what it says is shown nowhere, and not kept once it is sent",
    }),
    test: Flag({
      description: "a try: to test devices alone, at once, whatever quiet hours, caps and throttles say",
    }),
    add_to_inbox: Flag(),
    inbox_ttl: Integer({ minimum: 60, maximum: 31_536_000, description: "seconds" }),
  }),
);
export type Options = Static<typeof Options>;

const { email_mjml: _mjml, ...ofVariants } = Content.properties; // compiled once for a message

/** One of several forms of a message. Source: docs/reference/variants.md. */
export const Variant = Closed(
  {
    name: Text({ minLength: 1, maxLength: 100 }),
    weight_percent: Num({ minimum: 0, maximum: 100, description: "its part of the audience; all make 100" }),
    is_control: Optional(
      Flag({ description: "its people get nothing, so that the effect of the message can be measured" }),
    ),
    ...ofVariants,
  },
  { description: "what it says otherwise than the message: content members, merged over the message's" },
);
export type Variant = Static<typeof Variant>;

const having = (members: Record<string, object | true>): object => ({
  type: "object",
  properties: members,
  required: Object.keys(members),
});

const filled = { type: "string", minLength: 1 };

/** What of mails has no effect without one, and the values that ask for it. */
const ofMails = {
  email_body: true,
  email_mjml: filled,
  email_preheader: filled,
  email_from_name: filled,
  email_from_address: filled,
  email_reply_to_address: filled,
  disable_email_click_tracking: { const: true },
} as const;

/** Members that would be without effect, as another that they need is missing: nothing is accepted and ignored. */
export const contentNeeds = {
  allOf: [
    ...Object.entries(ofMails).map(([member, asking]) =>
      conditional({
        when: having({ [member]: asking }),
        require: { type: "object", dependentRequired: { [member]: ["email_subject"] } },
      }),
    ),
    conditional({
      when: {
        type: "object",
        properties: { email_subject: true, email_mjml: { type: "string", maxLength: 0 } },
        required: ["email_subject"],
      },
      require: having({ email_body: true }),
    }),
    conditional({
      when: having({ email_mjml: filled, email_body: filled }),
      require: { type: "object", properties: { email_body: false } },
    }),
    conditional({
      when: having({ ios_badge_type: { const: "SetTo" } }),
      require: having({ ios_badge_count: true }),
    }),
    conditional({
      when: having({ ios_badge_type: { const: "None" }, ios_badge_count: { type: "integer", minimum: 1 } }),
      require: { type: "object", properties: { ios_badge_count: false } },
    }),
  ],
};

/** The content of a message that takes a template, with what the template says. */
export const MergedContent = Type.Unsafe<Content>({ type: "object", ...contentNeeds });

/** Of `custom_data`, as JSON. Source: docs/reference/limits.md#messages. */
export const mostDataBytes = 65_536;

/** What its content needs is asked once it is merged with that of its template. */
const needsWithoutTemplate = {
  allOf: contentNeeds.allOf.map(({ if: when, ...rule }) => {
    const { properties } = when as { properties: object }; // each rule looks at members
    return { ...rule, if: { ...when, properties: { ...properties, template_id: false } } };
  }),
};

/** Body of `POST /v1/notifications`. Source: docs/reference/messages.md#content. */
export const CreateNotification = Closed(
  {
    app_id: Optional(Text({ minLength: 1, maxLength: 64 })),
    idempotency_key: Optional(
      Text({
        minLength: 1,
        maxLength: 255,
        pattern: patterns.idempotencyKey,
        description: "visible ASCII; the same key within 24 h gives the same message",
      }),
    ),
    name: Optional(Text({ minLength: 1, maxLength: 200 })),
    labels: Optional(List(Text({ minLength: 1, maxLength: 40 }), { maxItems: 10 })),
    category: Optional(Text({ minLength: 1, maxLength: 64 })),
    template_id: Optional(Text({ minLength: 1, maxLength: 64 })),
    campaign_id: Optional(
      Text({
        minLength: 1,
        maxLength: 64,
        pattern: patterns.noNull,
        description: "what the notification is a part of, by a name of yours",
      }),
    ),
    target: Target,
    variants: Optional(List(Variant, { maxItems: 10, description: "2–10 forms, each for a part of the audience" })),
    winner: Optional(Nullable(AskedWinner)),
    ...Content.properties,
    ...Options.properties,
  },
  needsWithoutTemplate,
);
export type CreateNotification = Static<typeof CreateNotification>;

named({ CreateNotification });
