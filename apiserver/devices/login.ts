import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { newId } from "#core/domain/ids.ts";
import { AppError, invalid, NotFound } from "#core/errors.ts";
import type { DeviceLogin } from "#core/schema/devices/subscription.ts";
import { userLimits } from "#core/schema/people/user.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { Devices } from "#core/storage/people/devices.ts";
import { blankUser } from "#core/storage/people/made.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow, Users } from "#core/storage/people/users.ts";
import { type Device, ownSubscription } from "../access/device.ts";
import { identityRefused } from "../access/identity.ts";
import { requireVouched } from "../access/person.ts";
import { newUser } from "../people/upsert-user.ts";
import type { People } from "../people/use-cases.ts";
import { checkUser } from "../people/user-checks.ts";
import { isFull, moveIntoRoom } from "./make-room.ts";
import { ownerOf } from "./person.ts";

export type LoginDeps = Pick<People, "mergeUsers" | "moveSubscription" | "subscriptions" | "updateUser"> & {
  users: Pick<Users, "find" | "insert">;
  devices: Pick<Devices, "prove">;
  /** Publishes what is in an outbox, without being waited for. */
  publish: (user: UserRow) => void;
  clock: Clock;
};

/** `merged`: the anonymous user before is part of this one now. */
type Joined = { user_id: string; merged: boolean };

/** `claimed`: labels of aliases that are another person's. */
export type LoggedIn = Joined & { claimed: string[] };

const attempts = 3; // each lost to another login with the same id

/**
 * Makes a device that of the person with an external id. With an identity token, or where the app asks for none, what the anonymous user
 * before had is theirs from then on; else the subscription is moved alone. Source: docs/reference/devices.md#login.
 * @throws AppError HS_IDENTITY_TOKEN_INVALID
 */
export const logIn =
  (deps: LoginDeps) =>
  async (device: Device, { external_id, aliases = {} }: DeviceLogin, signal: AbortSignal): Promise<LoggedIn> => {
    const isProven = provenAs(device, external_id);
    checkUser({ external_id, aliases });
    if (Object.keys(aliases).length > 0) requireVouched(device, aliases);
    const joined = await join(deps, { device, externalId: external_id, isProven, aliases }, signal);
    return { ...joined, claimed: await name(deps, ownSubscription(device), joined.user_id, aliases) };
  };

type Wanted = { device: Device; externalId: string; isProven: boolean; aliases: Record<string, string> };

const join = async (
  deps: LoginDeps,
  { device, externalId, isProven, aliases }: Wanted,
  signal: AbortSignal,
): Promise<Joined> => {
  const own = ownSubscription(device);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await ownerOf(deps, own);
    const known = await deps.users.find(ofRow(own), "external_id", externalId);
    requireRoom([before.external_id === null ? before : null, known], aliases);
    const login = { own, known, externalId, unprovenSince: isProven ? null : deps.clock.now() };
    const done = isProven ? await asProven(deps, { ...login, before }, signal) : await alone(deps, login);
    if (done === null) continue;
    if (isProven) await deps.devices.prove(own, done.user_id);
    return done;
  }
  throw new AppError("HS_CONFLICT", "others log in as this person at the same moment", { status: "busy" });
};

/** Whether the person is who the app says; false: nobody knows. @throws AppError HS_IDENTITY_TOKEN_INVALID */
export const provenAs = ({ app, identity }: Device, externalId: string): boolean => {
  const { identity_verification: mode } = settingsOf(app);
  if (identity === null && mode === "required")
    throw identityRefused("missing", "an identity token of the person is required in Authorization");
  if (identity !== null && identity.externalId !== externalId)
    throw identityRefused("identity_mismatch", "the token is of another person than external_id");
  return identity !== null || mode === "off";
};

/** Refuses aliases that would pass the bound, before anything is changed. */
const requireRoom = (users: readonly (UserRow | null)[], aliases: Record<string, string>): void => {
  const labels = [...users.flatMap((user) => Object.keys(user?.aliases ?? {})), ...Object.keys(aliases)];
  const limit = userLimits.aliases;
  if (new Set(labels).size > limit) throw invalid("aliases", `a user has at most ${limit}`, { limit });
};

/** Gives the person ids, one by one: what another person has stays theirs, and is told. */
const name = async (
  { users, updateUser }: LoginDeps,
  own: SubscriptionRow,
  userId: string,
  aliases: Record<string, string>,
): Promise<string[]> => {
  const claimed: string[] = [];
  for (const [label, id] of Object.entries(aliases)) {
    const user = await users.find(ofRow(own), "user_id", userId);
    if (user === null) throw new NotFound("user");
    const named = await updateUser(user, { aliases: { [label]: id } }).catch(unlessTaken);
    if (named === null) claimed.push(label);
  }
  return claimed;
};

type Login = { own: SubscriptionRow; known: UserRow | null; externalId: string; unprovenSince: Date | null };

/** Null when another login was quicker. */
const asProven = async (
  deps: LoginDeps,
  { before, ...login }: Login & { before: UserRow },
  signal: AbortSignal,
): Promise<Joined | null> => {
  const { known, externalId } = login;
  if (known?._id === before._id) return { user_id: known._id, merged: false };
  if (before.external_id !== null) return alone(deps, login);
  if (known === null) {
    const named = await deps.updateUser(before, { external_id: externalId }).catch(unlessTaken);
    return named && { user_id: named._id, merged: false };
  }
  const merged = await deps.mergeUsers(before, known, signal).catch(unlessFull);
  return merged === null ? alone(deps, login) : { user_id: merged._id, merged: true };
};

/** The subscription alone goes to the person. Null when another login was quicker. */
const alone = async (deps: LoginDeps, { own, known, externalId, unprovenSince }: Login): Promise<Joined | null> => {
  const user = known ?? (await made(deps, own, externalId));
  if (user === null) return null;
  await moveIntoRoom({ ...deps, nobody: (of) => nobody(deps, of) }, { own, user, unprovenSince });
  return { user_id: user._id, merged: false };
};

/** Null when somebody else has the external id. */
const made = async (
  { users, publish, clock }: Omit<LoginDeps, "devices">,
  own: SubscriptionRow,
  externalId: string | null,
): Promise<UserRow | null> => {
  const now = clock.now();
  const row = newUser(
    blankUser(newId("user", now), ofRow(own), now),
    externalId === null ? {} : { external_id: externalId },
  );
  if (!(await users.insert(row))) return null;
  publish(row);
  return row;
};

const unlessTaken = (error: unknown): null => {
  if (error instanceof AppError && error.code === "HS_ALIAS_CLAIMED") return null;
  throw error;
};

/** Both together would be more than one user may be. */
const unlessFull = (error: unknown): null => {
  if (isFull(error)) return null;
  throw error;
};

/** A new anonymous user. */
const nobody = async (deps: LoginDeps, own: SubscriptionRow): Promise<UserRow> => {
  const user = await made(deps, own, null);
  if (user === null) throw new Error("a user without an id of the app's is new");
  return user;
};

/** Gives the device to a new anonymous user; one whose user is anonymous stays theirs. */
export const logOut =
  (deps: LoginDeps) =>
  async (device: Device): Promise<{ user_id: string }> => {
    const own = ownSubscription(device);
    const before = await ownerOf(deps, own);
    if (before.external_id === null) return { user_id: before._id };
    const user = await nobody(deps, own);
    await deps.moveSubscription(own, user, { unproven_since: null });
    return { user_id: user._id };
  };
