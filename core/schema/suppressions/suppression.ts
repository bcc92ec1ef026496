import { type Static, Type } from "typebox";
import { ChannelName, Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { patterns } from "../json/patterns.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text } = Type;

/** Bounds of the list. Source: docs/reference/limits.md#suppressions. */
export const suppressionLimits = {
  entries: 1_000,
  categories: 20,
  categoryCharacters: 64,
  noteCharacters: 500,
} as const;

/** Why an address gets no messages, the strongest first. Source: docs/reference/suppressions.md#reasons. */
export const suppressionReasons = [
  "legal",
  "complaint",
  "carrier_opt_out",
  "hard_bounce",
  "invalid_address",
  "unsubscribe",
  "manual",
  "soft_bounce",
] as const;
export type SuppressionReason = (typeof suppressionReasons)[number];

/** Where an entry came from. */
export const suppressionSources = [
  "provider",
  "link",
  "one_click",
  "keyword",
  "sdk",
  "api",
  "import",
  "account",
  "system",
] as const;
export type SuppressionSource = (typeof suppressionSources)[number];

const Category = Text({ minLength: 1, maxLength: suppressionLimits.categoryCharacters });
const Id = Text({ minLength: 1, maxLength: 64 });
const ExternalId = Text({ minLength: 1, maxLength: 255, pattern: patterns.noNull });
const Address = Text({ minLength: 1, maxLength: 320, description: "a mail address, or a phone number as E.164" });

/** An address or a user that gets no messages, or none of some categories. */
export const Suppression = Type.Object({
  id: Id,
  app_id: Id,
  channel: Nullable(Type.Enum(ChannelName.enum, { description: "null: every channel" })),
  address: Nullable(Text({ description: "null for a user's entry, and once the person is erased" })),
  external_id: Nullable(Text({ description: "of a user's entry; null once the person is erased" })),
  user_id: Nullable(Text({ description: "whose it was when it was added, if that was known" })),
  reason: Enum([...suppressionReasons]),
  source: Enum([...suppressionSources]),
  categories: Nullable(List(Text(), { description: "messages of these categories alone; null: all messages" })),
  message_id: Nullable(Text()),
  delivery_id: Nullable(Text()),
  provider_code: Nullable(Text()),
  note: Nullable(Text()),
  removable: Flag({ description: "whether DELETE can lift it, with `force` if need be" }),
  expires_at: Nullable(Type.String({ format: "date-time", description: "null: it does not end" })),
  created_at: DateTime,
  updated_at: DateTime,
});
export type Suppression = Static<typeof Suppression>;

export const SuppressionPage = PageOf(Suppression);

const entry = {
  address: Optional(Address),
  external_id: Optional(ExternalId),
  channel: Optional(ChannelName),
  reason: Optional(
    Enum(["manual", "unsubscribe", "complaint", "hard_bounce", "invalid_address", "legal"], {
      description: "default manual; the others are for lists that were kept elsewhere",
    }),
  ),
  categories: Optional(
    List(Category, { minItems: 1, maxItems: suppressionLimits.categories, description: "left out: all messages" }),
  ),
  note: Optional(Text({ maxLength: suppressionLimits.noteCharacters })),
  expires_at: Optional(DateTime),
};

/** One address, on a channel that people are written to by, or one user by their external id. */
export const SuppressionEntry = Closed(entry);
export type SuppressionEntry = Static<typeof SuppressionEntry>;

/** Body of `POST /v1/apps/{appId}/suppressions`: one entry, or `entries` alone. */
export const CreateSuppression = Closed({
  ...entry,
  entries: Optional(List(SuppressionEntry, { minItems: 1, maxItems: suppressionLimits.entries })),
});
export type CreateSuppression = Static<typeof CreateSuppression>;

/** What became of `entries`; `errors` names those that were not added. */
export const SuppressionsAdded = Type.Object({
  created: Integer({ minimum: 0 }),
  existing: Integer({ minimum: 0 }),
  errors: List(Type.Object({ index: Integer({ minimum: 0 }), field: Text(), message: Text() })),
});
export type SuppressionsAdded = Static<typeof SuppressionsAdded>;

/** Its reply: the entry, or what became of all of them. */
export const CreateSuppressionResult = Type.Union([Suppression, SuppressionsAdded]);

export const suppressionPaging = pagingOf({ sort: "-created_at" });

/** Query of `GET /v1/apps/{appId}/suppressions`. Source: docs/reference/suppressions.md#list. */
export const SuppressionListQuery = Type.Object({
  ...suppressionPaging.pageQuery,
  channel: Optional(List(ChannelName, { maxItems: 8 })),
  reason: Optional(List(Enum([...suppressionReasons]), { maxItems: suppressionReasons.length })),
  source: Optional(List(Enum([...suppressionSources]), { maxItems: suppressionSources.length })),
  address: Optional(Address),
  external_id: Optional(ExternalId),
  category: Optional(Category),
  from: Optional(DateTime),
  to: Optional(DateTime),
  ...suppressionPaging.sortQuery,
});
export type SuppressionListQuery = Static<typeof SuppressionListQuery>;

export const DeleteSuppressionQuery = Type.Object({
  force: Optional(Flag({ description: "lifts a hard bounce or a complaint, too" })),
});

/** Reply of `DELETE /v1/apps/{appId}/suppressions/{suppressionId}`. */
export const SuppressionLifted = Type.Object({
  ok: Type.Literal(true),
  restored: Flag({ description: "whether the subscription that the entry had made invalid is valid again" }),
});
export type SuppressionLifted = Static<typeof SuppressionLifted>;

named({
  SuppressionLifted,
  Suppression,
  SuppressionPage,
  SuppressionEntry,
  CreateSuppression,
  SuppressionsAdded,
  CreateSuppressionResult,
});
