import { type Static, Type } from "typebox";
import { errorStatuses } from "../../errors.ts";
import { Closed, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";

const { Array: List, Boolean: Flag, Integer, String: Text, Unknown } = Type;

/** Bounds of one batch. Source: docs/reference/limits.md#people. */
export const userBatchLimits = { users: 1_000, subscriptions: 2_000 } as const;

/** Body of `POST /v1/apps/{appId}/users/batch`. Each item is checked by itself, as an `UpsertUser`. */
export const UpsertUsers = Closed({
  users: List(Unknown(), { minItems: 1, maxItems: userBatchLimits.users, description: "each as in `POST …/users`" }),
});
export type UpsertUsers = Static<typeof UpsertUsers>;

/** What became of one item: the user, or the error that `POST …/users` would give. */
export const UpsertedUser = Type.Object({
  index: Integer({ minimum: 0, description: "the item's place in `users`" }),
  id: Nullable(Text({ description: "of the user; null when the item was refused" })),
  created: Flag({ description: "whether this item made the user" }),
  error: Nullable(
    Type.Object({
      code: Text({ description: `one of ${Object.keys(errorStatuses).join(", ")}; more may come` }),
      message: Text(),
      details: Type.Object(
        {},
        { additionalProperties: true, description: "as of the code; fields are the item's own" },
      ),
    }),
  ),
});
export type UpsertedUser = Static<typeof UpsertedUser>;

/** Its reply: one result for each item, in their order. */
export const UsersUpserted = Type.Object({ results: List(UpsertedUser) });
export type UsersUpserted = Static<typeof UsersUpserted>;

named({ UpsertUsers, UpsertedUser, UsersUpserted });
