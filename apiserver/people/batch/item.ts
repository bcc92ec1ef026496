import { parser } from "#core/schema/json/parser.ts";
import { UpsertUser } from "#core/schema/people/user.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Caller } from "../../access/caller.ts";
import type { Addressed } from "../subscription-checks.ts";
import { checkUpsert, keysOf } from "../upsert-user.ts";

/** `idOf`: the id that a new user of an item gets; of a request that is repeated the same as before. */
export type UserBatch = { caller: Caller; app: AppRow; users: readonly unknown[]; idOf: (index: number) => string };

/** An item of a batch that could be written, as far as it can be judged by itself. */
export type Item = {
  index: number;
  body: UpsertUser;
  /** Of its subscriptions, in their order. */
  addressed: readonly Addressed[];
  /** The ids that it names, as the store keeps them. */
  keys: readonly string[];
  /** Of the user, should it be a new one. */
  id: string;
};

const parse = parser(UpsertUser);

/** @throws ValidationError for what could never be written, whoever there is */
export const judge = (given: unknown, index: number, { idOf }: Pick<UserBatch, "idOf">): Item => {
  const body = parse(given);
  const addressed = checkUpsert(body);
  return { index, body, addressed, keys: keysOf(body), id: idOf(index) };
};

/** One text for an address of an app. */
export const addressKey = ({ channel, token }: Pick<Addressed, "channel" | "token">): string => `${channel} ${token}`;
