import { type Static, Type } from "typebox";
import { Closed, MapOf, Nullable } from "../json/common.ts";
import { patterns, worded } from "../json/patterns.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text, Union } = Type;

/** Bounds of in-app messages. Source: docs/reference/in-app-messages.md#bounds. */
export const inAppBounds = {
  messages: 1_000,
  /** Of an app, at once. */
  active: 100,
  nameCharacters: 128,
  triggers: 10,
  variants: 10,
  segments: 50,
  buttons: 3,
  titleCharacters: 255,
  bodyCharacters: 2_000,
  urlCharacters: 2_000,
  languages: 50,
  /** Of its triggers and variants together, as JSON. */
  bytes: 32_768,
} as const;

export const inAppStatuses = ["draft", "active", "paused"] as const;
export type InAppStatus = (typeof inAppStatuses)[number];

export const inAppLayouts = ["banner", "modal", "full", "center"] as const;

/** What a button does beside closing the message. */
export const inAppActions = ["dismiss", "open", "ask_permission"] as const;

/** How a trigger compares a property of an event. */
export const triggerOps = ["eq", "neq", "gt", "gte", "lt", "lte", "contains", "exists"] as const;

const language = { pattern: patterns.language, maxLength: 35 };
const texts = (maxLength: number, description: string) =>
  MapOf(language, Text({ maxLength, pattern: patterns.noNull }), {
    maxProperties: inAppBounds.languages,
    description: `language code to ${description}; the person's language, its base, \`en\`, then the first key is chosen`,
  });

/** An address that a web page or an app can open; which schemes are none is decided in core/domain/in-app-messages. */
const openable = worded(
  "^[A-Za-z][A-Za-z0-9+.-]*:[^\\s\\u0000]+$",
  "must be an address: a scheme, a colon and what follows, without spaces",
);

export const InAppButton = Closed({
  id: Text({ minLength: 1, maxLength: 64, pattern: patterns.noNull, description: "unique in the variant" }),
  text: texts(100, "what it says"),
  action: Optional(
    Enum([...inAppActions], {
      description:
        "default dismiss; open: goes to `url`; ask_permission: asks the person whether the app may send pushes; each " +
        "closes the message",
    }),
  ),
  url: Optional(Nullable(Text({ maxLength: inAppBounds.urlCharacters, pattern: openable }))),
});

/** What a variant says. */
export const InAppContent = Closed({
  layout: Enum([...inAppLayouts]),
  title: Optional(texts(inAppBounds.titleCharacters, "title")),
  body: Optional(texts(inAppBounds.bodyCharacters, "text")),
  image_url: Optional(
    Nullable(
      Text({
        maxLength: inAppBounds.urlCharacters,
        pattern: worded("^https://[^\\s\\u0000]+$", "must be an address that begins with https://"),
      }),
    ),
  ),
  buttons: Optional(List(InAppButton, { maxItems: inAppBounds.buttons })),
  background: Optional(
    Nullable(
      Text({
        pattern: worded("^#[0-9A-Fa-f]{6}$", "must be a colour such as #1a2b3c"),
        description: "colour behind the text",
      }),
    ),
  ),
});
export type InAppContent = Static<typeof InAppContent>;

const VariantId = Text({
  minLength: 1,
  maxLength: 64,
  pattern: worded("^[A-Za-z0-9_-]+$", "must be letters, digits, _ and -"),
  description: "unique in the message",
});

export const InAppVariant = Closed({
  id: VariantId,
  weight_percent: Integer({ minimum: 0, maximum: 100, description: "its part of the people; all make 100" }),
  content: InAppContent,
});
export type InAppVariant = Static<typeof InAppVariant>;

/** When a device shows it: one of `event`, `session`, `page` and `time_on_page`, of which the first may say more. */
export const InAppTrigger = Closed({
  event: Optional(
    Text({
      minLength: 1,
      maxLength: 128,
      pattern: patterns.noNull,
      description: "the app tracked an event of this name",
    }),
  ),
  property: Optional(
    Text({ minLength: 1, maxLength: 128, pattern: patterns.noNull, description: "of which a property is looked at" }),
  ),
  op: Optional(Enum([...triggerOps], { description: "how it is compared; exists takes no value" })),
  value: Optional(
    Union([Text({ maxLength: 255, pattern: patterns.noNull }), Type.Number(), Flag()], {
      description: "what the property is compared with",
    }),
  ),
  session: Optional(Type.Literal(true, { description: "a session began" })),
  page: Optional(
    Text({
      minLength: 1,
      maxLength: 255,
      pattern: patterns.noNull,
      description: "a page or screen of this name or path came up; * stands for any characters",
    }),
  ),
  time_on_page: Optional(Integer({ minimum: 1, maximum: 3_600, description: "so many seconds on one page or screen" })),
});
export type InAppTrigger = Static<typeof InAppTrigger>;

/** How often one device shows it. */
export const InAppRedisplay = Closed({
  limit: Integer({ minimum: 1, maximum: 1_000, description: "times in all" }),
  after_hours: Integer({ minimum: 0, maximum: 8_760, description: "from one time to the next at least" }),
});
export type InAppRedisplay = Static<typeof InAppRedisplay>;

const SegmentNames = List(Text({ minLength: 1, maxLength: 128 }), { maxItems: inAppBounds.segments });

/** Who sees it. */
export const InAppTarget = Closed({
  included_segments: Optional(SegmentNames),
  excluded_segments: Optional(SegmentNames),
});
export type InAppTarget = Static<typeof InAppTarget>;
