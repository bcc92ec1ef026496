import type { Collection, Db, UpdateFilter } from "mongodb";
import { defined } from "../../domain/defined.ts";
import { derivedId } from "../../domain/ids.ts";
import { userMerged } from "../../domain/people/events.ts";
import { AppError, NotFound } from "../../errors.ts";
import { type Inboxes, inboxes } from "../inbox/inboxes.ts";
import { collectionOf, ofRow } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { type Deletions, deletions } from "../warehouse/deletions.ts";
import { sweepAfter } from "../work/due.ts";
import { type RemovalRow, removal, removalCollection } from "../work/removals.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";
import { aliasKey, type UserRow, type Users, userCollection, users as userStore } from "./users.ts";

export type Merges = ReturnType<typeof merges>;

const againMs = 60_000; // longer than a request may take
const attempts = 5; // each lost to another writer

/**
 * Makes one user part of another. It is written down first, with all that the user is; then the user goes, because their ids
 * can be only one user's; then the other one gets what was theirs. Each step may run twice. Dispatchers go through it a minute
 * later: they finish what a request left, and move what was registered for the user meanwhile.
 */
export const merges = (db: Db) => {
  const stores: Stores = {
    removals: collectionOf<RemovalRow>(db, removalCollection),
    users: userStore(db),
    userRows: collectionOf<UserRow>(db, userCollection),
    subscriptions: collectionOf<SubscriptionRow>(db, subscriptionCollection),
    inboxes: inboxes(db),
    deleted: deletions(db),
  };
  return {
    /** @throws AppError HS_CONFLICT when the user is changed by others, or merged into a third; NotFound when one is gone */
    merge: async (read: UserRow, into: string, now: Date): Promise<UserRow> =>
      finish(stores, await takeAway(stores, { read, into, now }), now),

    /** Goes through a merge again. Where the other user was gone by then, the user is there again. */
    finish: (row: RemovalRow, now: Date): Promise<unknown> =>
      finish(stores, row, now).catch((error: unknown) => {
        if (!(error instanceof NotFound)) throw error;
      }),
  };
};

type Stores = {
  removals: Collection<RemovalRow>;
  users: Pick<Users, "find" | "findAll" | "update">;
  userRows: Collection<UserRow>;
  subscriptions: Collection<SubscriptionRow>;
  inboxes: Pick<Inboxes, "join">;
  deleted: Deletions;
};

type Intended = { read: UserRow; into: string; now: Date };

/** Writes the merge down and removes the user, as they are by then. */
const takeAway = async (stores: Stores, { read, into, now }: Intended): Promise<RemovalRow> => {
  let source = read;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const row = await writeDown(stores, mergeOf(source, into, now));
    const { _id, tenant_id, revision, alias_keys } = source;
    if ((await stores.userRows.deleteOne({ _id, tenant_id, revision, alias_keys })).deletedCount === 1) return row;
    const there = await stores.userRows.findOne({ _id, tenant_id });
    if (there === null) return row; // who does the same at this moment was quicker
    source = there;
  }
  throw busy();
};

/** Finds the merge of the same two users where one was written before. */
const writeDown = async ({ removals }: Stores, row: Merging): Promise<RemovalRow> => {
  if (await insertNew(removals, row)) return row;
  const { source, into } = row.merge;
  const written = await removals.findOneAndUpdate(
    { _id: row._id, "merge.into": into },
    { $set: { "merge.source": source } },
    { returnDocument: "after" },
  );
  if (written === null) throw busy();
  return written;
};

const finish = async (stores: Stores, { _id, merge }: RemovalRow, now: Date): Promise<UserRow> => {
  if (merge === undefined) throw new Error(`the merge ${_id} says of nobody`);
  const { into } = merge;
  const source = merge.source as UserRow; // sound: a merge is written with one
  const { removals, userRows, subscriptions, deleted } = stores;
  const { _id: userId, app_id, tenant_id } = source;
  const isErased = (await removals.findOne({ _id: userId })) !== null; // then nobody gets what was theirs
  const target = isErased ? null : await join(stores, { source, into, now });
  if (target === null) {
    if (!isErased) await insertNew(userRows, { ...source, updated_at: now }); // who was to get it all is gone: nothing is lost
    await removals.deleteOne({ _id });
    throw new NotFound("user");
  }
  const owner = { user_id: target._id, external_id: target.external_id, updated_at: now };
  const theirs = { app_id, user_id: userId, tenant_id };
  await subscriptions.updateMany({ ...theirs, unproven_since: { $ne: null } }, { $set: { unproven_since: now } }); // the other's inbox is none that they have read
  await subscriptions.updateMany(theirs, { $set: owner });
  await stores.inboxes.join(ofRow(source), userId, target._id, now);
  await deleted.note(ofRow(source), "users", [userId], now);
  return target;
};

/** The user who gets what was another's; null when they are gone. */
const join = async (
  { users }: Stores,
  { source, into, now }: { source: UserRow; into: string; now: Date },
): Promise<UserRow | null> => {
  const of = ofRow(source);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const target = await users.find(of, "user_id", into);
    if (target === null || target.alias_keys.includes(aliasKey("user_id", source._id))) return target;
    const named = await users.findAll(of, keysOf(source));
    const taken = new Set(named.filter(({ _id }) => _id !== target._id).flatMap((user) => user.alias_keys));
    const change = (read: UserRow) => joinedBy(read, without(source, taken), now);
    const whole = await users.update(of.tenantId, target, change);
    if (whole !== null) return whole;
  }
  throw busy();
};

const busy = (): AppError =>
  new AppError("HS_CONFLICT", "the users are being changed by others at the same moment", { status: "busy" });

type Merging = RemovalRow & Required<Pick<RemovalRow, "merge">>;

const mergeOf = (source: UserRow, into: string, now: Date): Merging => ({
  ...removal({ ...source, _id: derivedId("user", source._id, "merge") }, now),
  kind: "merge",
  keys: [],
  outbox: [],
  merge: { source, into },
  due_at: new Date(now.getTime() + againMs),
});

/** Every key that leads to a user, their own id included. */
const keysOf = ({ _id, alias_keys }: UserRow): string[] => [...new Set([aliasKey("user_id", _id), ...alias_keys])];

/** A user without the ids that somebody has registered in the meantime. */
const without = (user: UserRow, taken: ReadonlySet<string>): UserRow => ({
  ...user,
  external_id:
    user.external_id !== null && taken.has(aliasKey("external_id", user.external_id)) ? null : user.external_id,
  aliases: Object.fromEntries(Object.entries(user.aliases).filter(([label, id]) => !taken.has(aliasKey(label, id)))),
  alias_keys: user.alias_keys.filter((key) => !taken.has(key)),
});

/** What a user becomes with another one's members: their own win, and each id of the other one leads to them. */
export const joined = (target: UserRow, source: UserRow) => {
  const external_id = target.external_id ?? source.external_id;
  const aliases = { ...source.aliases, ...target.aliases };
  const all = { user_id: target._id, ...(external_id !== null && { external_id }), ...aliases };
  const own = Object.entries(all).map(([label, id]) => aliasKey(label, id));
  const led = [...(target.merged_keys ?? []), ...(source.merged_keys ?? []), ...keysOf(source)];
  const merged_keys = [...new Set(led)].filter((key) => !own.includes(key));
  const lists = [...new Set([...(target.lists ?? []), ...(source.lists ?? [])])];
  return {
    external_id,
    aliases,
    ...(lists.length > 0 && { lists }),
    merged_keys,
    alias_keys: [...own, ...merged_keys],
    tags: { ...source.tags, ...target.tags },
    properties: { ...source.properties, ...target.properties },
    language: target.language ?? source.language,
    time_zone: target.time_zone ?? source.time_zone,
    country: target.country ?? source.country,
    ...defined({
      session_time: target.session_time ?? source.session_time,
      amount_spent: target.amount_spent ?? source.amount_spent,
      location: target.location ?? source.location,
    }),
    first_seen_at: earlier(target.first_seen_at, source.first_seen_at),
    last_active_at: target.last_active_at > source.last_active_at ? target.last_active_at : source.last_active_at,
  };
};

const earlier = (a: Date, b: Date): Date => (a < b ? a : b);

const joinedBy = (target: UserRow, source: UserRow, now: Date): UpdateFilter<UserRow> => {
  const whole = joined(target, source);
  const sessions = [target.session_count, source.session_count].filter((count) => count !== undefined);
  const told = [...(target.sessions ?? []), ...(source.sessions ?? [])];
  const count = sessions.length === 0 ? {} : { session_count: sessions.reduce((sum, one) => sum + one, 0) };
  const events = [...source.outbox, userMerged({ ...target, ...whole }, source, now)];
  return {
    $set: { ...whole, ...count, ...(told.length > 0 && { sessions: told }), updated_at: now, due_at: sweepAfter(now) },
    $inc: { revision: 1 },
    $push: { outbox: { $each: events } },
  };
};
