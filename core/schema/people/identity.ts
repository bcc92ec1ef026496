import { type Static, Type } from "typebox";
import { Closed, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns } from "../json/patterns.ts";
import { AliasId, UpdateUser } from "./user.ts";

const { String: Text } = Type;

/** Names a user by one of their ids. */
export const UserReference = Closed({
  label: Text({ pattern: patterns.aliasLabel, description: "`external_id`, `user_id` or an alias label" }),
  id: AliasId,
});
export type UserReference = Static<typeof UserReference>;

/** Body of `POST …/users/by/{label}/{id}/merge`. */
export const MergeUser = Closed({ into: UserReference });
export type MergeUser = Static<typeof MergeUser>;

const { external_id, aliases } = UpdateUser.properties;

/** Body of `PATCH …/users/by/{label}/{id}/identity`. What is null is removed. */
export const UpdateIdentity = Closed({ external_id, aliases });
export type UpdateIdentity = Static<typeof UpdateIdentity>;

/** All ids of a user. */
export const Identity = Type.Object({
  user_id: Text({ description: "ours: it never changes" }),
  external_id: Nullable(Text()),
  aliases: Type.Record(Text(), Text()),
});
export type Identity = Static<typeof Identity>;

named({ MergeUser, UserReference, UpdateIdentity, Identity });
