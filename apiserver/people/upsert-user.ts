import type { Clock } from "#core/domain/clock.ts";
import { userCreated } from "#core/domain/people/events.ts";
import { AppError, halfDone } from "#core/errors.ts";
import type { CreateSubscription } from "#core/schema/people/subscription.ts";
import type { UpsertUser } from "#core/schema/people/user.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { blankUser } from "#core/storage/people/made.ts";
import { aliasKey, type UserRow, type Users } from "#core/storage/people/users.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import type { Caller } from "../access/caller.ts";
import { type Addressed, addressOf } from "./subscription-checks.ts";
import { changeOf } from "./user-change.ts";
import { checkIdentity, checkUser } from "./user-checks.ts";

export type UpsertUserDeps = {
  users: Pick<Users, "findAll" | "insert" | "update">;
  nameOwner: (user: UserRow) => Promise<void>;
  /** Counts the registration of an address of an app. @throws RateLimited */
  limit: (appId: string, addressed: Addressed) => Promise<void>;
  /** Refuses what `register` would refuse of these, before anything is written. */
  requireRegistrable: (caller: Caller, user: UserRow, wanted: readonly Addressed[]) => Promise<void>;
  register: (caller: Caller, user: UserRow, body: CreateSubscription, at: string) => Promise<unknown>;
  /** Publishes what is in an outbox, without being waited for. */
  publish: (user: UserRow) => void;
  clock: Clock;
};

/** `id`: the one that a new user gets; of a request that is repeated the same as before. */
export type UserWanted = { caller: Caller; app: AppRow; body: UpsertUser; id: string };

export type Written = { user: UserRow; isNew: boolean };

const attempts = 5; // each lost to another writer of the same user

/**
 * Makes the user, or updates the one that has one of the ids given. Two different owners of them are a conflict. What can
 * be refused is, before anything is written; only who is overtaken by others then ends halfway.
 */
export const upsertUser =
  (deps: UpsertUserDeps) =>
  async (wanted: UserWanted): Promise<Written> => {
    const { caller, app, body } = wanted;
    const { subscriptions = [] } = body;
    const addressed = checkUpsert(body);
    await Promise.all(addressed.map((one) => deps.limit(app._id, one)));
    const written = await write(deps, wanted, addressed);
    for (const [i, subscription] of subscriptions.entries())
      await deps.register(caller, written.user, subscription, `subscriptions[${i}]`).catch(halfDone);
    return written;
  };

/** Refuses what could never be written, whoever there is; gives the addresses of the subscriptions. */
export const checkUpsert = (body: UpsertUser): Addressed[] => {
  checkIdentity(body);
  checkUser(body);
  return (body.subscriptions ?? []).map((subscription, i) => addressOf(subscription, `subscriptions[${i}]`));
};

const write = async (deps: UpsertUserDeps, wanted: UserWanted, addressed: readonly Addressed[]): Promise<Written> => {
  const { caller, app, body, id } = wanted;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const owner = ownerOf(await deps.users.findAll(ofApp(app), keysOf(body)), body);
    const blank = blankUser(id, ofApp(app), deps.clock.now());
    changeOf(owner ?? blank, body); // its bounds come before the state: docs/reference/requests.md#order-of-checks
    await deps.requireRegistrable(caller, owner ?? blank, addressed);
    const user = owner === null ? await make(deps, blank, body) : await change(deps, owner, body);
    if (user !== null) return { user, isNew: user._id === id };
  }
  throw new AppError("HS_CONFLICT", "the user is being changed by others at the same moment", { status: "busy" });
};

/** The ids that a body names, as the store keeps them. */
export const keysOf = ({ external_id: externalId, aliases = {} }: UpsertUser): string[] => [
  ...(externalId === undefined ? [] : [aliasKey("external_id", externalId)]),
  ...Object.entries(aliases).map(([label, id]) => aliasKey(label, id)),
];

/** Whom the ids mean: the external id first. Another's alias among them is a conflict, never a merge. */
export const ownerOf = (found: readonly UserRow[], body: UpsertUser): UserRow | null => {
  const external = body.external_id === undefined ? null : aliasKey("external_id", body.external_id);
  const named = external === null ? undefined : found.find((user) => user.alias_keys.includes(external));
  const owner = named ?? found[0] ?? null;
  const isOwner = (user: UserRow): boolean =>
    user === owner && (named !== undefined || body.external_id === undefined || user.external_id === null);
  const other = found.find((user) => !isOwner(user));
  if (owner === null || other === undefined) return owner;
  changeOf(owner, body); // bounds come before: docs/reference/requests.md#order-of-checks
  throw aliasClaimed(other, keysOf(body));
};

/** Which of the wanted aliases a user has, for a caller who cannot have it. */
export const aliasClaimed = (owner: UserRow, wanted: readonly string[]): AppError => {
  const key = wanted.find((one) => owner.alias_keys.includes(one)) ?? "";
  const label = key.slice(0, key.indexOf(":"));
  return new AppError("HS_ALIAS_CLAIMED", `another user has this ${label}`, { label, user_id: owner._id });
};

/** A user that a body makes, with their event. */
export const newUser = (blank: UserRow, body: UpsertUser): UserRow => {
  const whole = { ...blank, ...changeOf(blank, body).whole };
  return { ...whole, outbox: [userCreated(whole)], due_at: sweepAfter(blank.created_at) };
};

const make = async ({ users, publish }: UpsertUserDeps, blank: UserRow, body: UpsertUser): Promise<UserRow | null> => {
  const row = newUser(blank, body);
  if (!(await users.insert(row))) return null;
  publish(row);
  return row;
};

const change = async (deps: UpsertUserDeps, owner: UserRow, body: UpsertUser): Promise<UserRow | null> => {
  const become = (read: UserRow) => changeOf(read, body, deps.clock.now()).update;
  const user = await deps.users.update(owner.tenant_id, owner, become);
  if (user !== null && user.external_id !== owner.external_id) await deps.nameOwner(user);
  return user;
};
