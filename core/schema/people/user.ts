import { type Static, Type } from "typebox";
import { Closed, DateTime, MapOf, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns, worded } from "../json/patterns.ts";
import { CreateSubscription, Language, Subscription } from "./subscription.ts";

const { Array: List, Number: Num, Optional, Partial, String: Text, Union, Unknown } = Type;

/** Bounds of one user. Source: docs/reference/limits.md#people. */
export const userLimits = {
  tags: 200,
  properties: 200,
  propertyCharacters: 65_536,
  aliases: 20,
  subscriptions: 20,
} as const;

/** The name of a member that an app makes up. */
export const memberName = {
  pattern: worded("^[^.$\\u0000][^.\\u0000]*$", "must not contain a dot or U+0000, or begin with $"),
  maxLength: 128,
}; // a path in the store: no dots, no $ first
/** An id that the app gives a user. */
export const AliasId = Text({ minLength: 1, maxLength: 255, pattern: patterns.noNull });
export const aliasLabel = {
  pattern: worded(
    "^(?!(external_id|user_id)$)[a-z0-9_]{1,64}$",
    "must be 1 to 64 small letters, digits and _, and not external_id or user_id",
  ),
};
/** Ids of a user by their labels. */
export const Aliases = MapOf(aliasLabel, AliasId, { maxProperties: userLimits.aliases });

/** Numbers and booleans are kept as strings; null and "" remove a tag. */
const tag = Union([Text({ maxLength: 1024 }), Type.Number(), Type.Boolean(), Type.Null()]);
const Tags = MapOf(memberName, tag, { maxProperties: userLimits.tags });
/** Tags that somebody begins with. */
export const FirstTags = MapOf(memberName, tag, { maxProperties: 50, description: "of the person; more can follow" });
const Properties = MapOf(memberName, Unknown(), {
  maxProperties: userLimits.properties,
  description: "any JSON; null removes a member",
});

const attributes = {
  tags: Tags,
  properties: Properties,
  language: Nullable(Language),
  timezone: Nullable(Text({ maxLength: 64, pattern: patterns.timeZone, description: "IANA name" })),
  country: Nullable(
    Text({
      pattern: worded("^[A-Z]{2}$", "must be two capital letters, such as DE"),
      description: "ISO 3166-1 alpha-2",
    }),
  ),
  location: Nullable(
    Closed({
      lat: Num({ minimum: -90, maximum: 90, description: "degrees" }),
      long: Num({ minimum: -180, maximum: 180, description: "degrees" }),
    }),
  ),
  amount_spent: Nullable(Num({ minimum: 0, maximum: 1e15, description: "in the app's own unit" })),
  session_time: Nullable(Num({ minimum: 0, maximum: 1e12, description: "seconds, of all sessions" })),
};

/** Body of `POST /v1/apps/{appId}/users`: makes the user or updates the one that has an id given here. */
export const UpsertUser = Closed({
  external_id: Optional(AliasId),
  aliases: Optional(Aliases),
  ...Partial(Closed(attributes)).properties,
  subscriptions: Optional(List(CreateSubscription, { maxItems: userLimits.subscriptions })),
});
export type UpsertUser = Static<typeof UpsertUser>;

/** Body of `PATCH /v1/apps/{appId}/users/by/{label}/{id}`. A null alias is removed. */
export const UpdateUser = Closed(
  Partial(
    Type.Object({
      external_id: Nullable(AliasId),
      aliases: MapOf(aliasLabel, Nullable(AliasId), { maxProperties: userLimits.aliases }),
      ...attributes,
    }),
  ).properties,
);
export type UpdateUser = Static<typeof UpdateUser>;

/** A person of an app. */
export const User = Type.Object({
  id: Text(),
  app_id: Text(),
  external_id: Nullable(Text()),
  aliases: Type.Record(Text(), Text()),
  tags: Type.Record(Text(), Text()),
  properties: Type.Object({}, { additionalProperties: true }),
  language: Nullable(Text()),
  timezone: Nullable(Text()),
  country: Nullable(Text()),
  location: Nullable(Type.Object({ lat: Num(), long: Num() })),
  amount_spent: Nullable(Num()),
  session_time: Nullable(Num({ description: "seconds" })),
  subscriptions: List(Subscription),
  first_seen_at: DateTime,
  last_active_at: DateTime,
  created_at: DateTime,
  updated_at: DateTime,
});
export type User = Static<typeof User>;

named({ UpsertUser, UpdateUser, User });
