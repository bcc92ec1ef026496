import { type Static, Type } from "typebox";
import { ChannelName, Closed, DateTime, MapOf, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";

const { Array: List, Enum, Object: Group, Optional, String: Text } = Type;

/** What checking an account came to. Source: docs/reference/channels.md#connection-test. */
export const accountResults = ["verified", "refused", "unreached"] as const;
export type AccountResult = (typeof accountResults)[number];

/** The last check of an account. */
export const AccountCheck = Group({
  result: Enum([...accountResults], {
    description: "verified: the provider takes the account; refused: it does not; unreached: it could not be asked",
  }),
  reason: Nullable(Text({ description: "in words; null when it is verified" })),
  provider_code: Nullable(Text({ description: "the provider's own word for it" })),
  is_current: Type.Boolean({ description: "false when the account was changed since" }),
  checked_at: DateTime,
  since: Type.String({ format: "date-time", description: "since when each check has come to this result" }),
});
export type AccountCheck = Static<typeof AccountCheck>;

/** An app's account on a channel, without its secrets. */
export const ChannelAccount = Group({
  channel: ChannelName,
  provider: Text({ description: "who carries its messages" }),
  settings: Type.Record(Text(), Type.Unknown(), {
    description: "what the account is set up with, but for its secrets; the members are the channel's",
  }),
  check: Nullable(AccountCheck),
});
export type ChannelAccount = Static<typeof ChannelAccount>;

/** Reply of `GET /v1/apps/{appId}/channels`: the channels that the app can send over. */
export const ChannelAccountList = Group({ data: List(ChannelAccount) });
export type ChannelAccountList = Static<typeof ChannelAccountList>;

/** Body of `PUT /v1/apps/{appId}/channels/{channel}`: the account as it is to be, whole. Source: docs/reference/channels.md#accounts. */
export const PutChannelAccount = Closed({
  provider: Optional(
    Text({ maxLength: 64, description: "who carries its messages; the channel's first when left out" }),
  ),
  settings: Type.Record(Text(), Type.Unknown(), {
    maxProperties: 50,
    description: "what is not secret; the members are the channel's (docs/reference/channels.md#accounts)",
  }),
  secrets: Optional(
    MapOf({ minLength: 1, maxLength: 64 }, Text({ minLength: 1, maxLength: 16_384 }), {
      maxProperties: 20,
      description: "every secret that these settings need, by its key; kept sealed, and never shown",
    }),
  ),
});
export type PutChannelAccount = Static<typeof PutChannelAccount>;

named({ AccountCheck, ChannelAccount, ChannelAccountList, PutChannelAccount });
