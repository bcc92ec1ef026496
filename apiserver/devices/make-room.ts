import { AppError } from "#core/errors.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { isDevice } from "#core/storage/people/devices.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { identityRefused } from "../access/identity.ts";
import type { People } from "../people/use-cases.ts";

export type RoomDeps = Pick<People, "moveSubscription"> & {
  subscriptions: Pick<People["subscriptions"], "ofUser">;
  /** A new anonymous user of the same app. */
  nobody: (own: SubscriptionRow) => Promise<UserRow>;
};

/** Where a device goes, and since when nothing proves that it is theirs; null where something does. */
export type Move = { own: SubscriptionRow; user: UserRow; unprovenSince: Date | null };

/**
 * Gives a device to a person. Where they have as many as they may, one goes to an anonymous user: first those that have not proven
 * to be theirs, then that which was least recently active. A device that proves nothing takes the place of no other that did.
 * @throws AppError HS_IDENTITY_TOKEN_INVALID where it would have to; HS_CONFLICT where they have addresses alone
 */
export const moveIntoRoom = async (deps: RoomDeps, { own, user, unprovenSince }: Move): Promise<void> => {
  const move = () => deps.moveSubscription(own, user, { unproven_since: unprovenSince });
  try {
    await move();
  } catch (error) {
    if (!isFull(error)) throw error;
    const owned = await deps.subscriptions.ofUser(ofRow(user), user._id);
    const [first] = owned
      .filter((row) => isDevice(row) && (unprovenSince === null || isUnproven(row)))
      .toSorted(inOrder);
    if (first === undefined && unprovenSince === null) throw error;
    if (first === undefined)
      throw identityRefused("missing", "the person has as many devices as they may: their token makes room");
    await deps.moveSubscription(first, await deps.nobody(own), { unproven_since: null });
    await move();
  }
};

const inOrder = (a: SubscriptionRow, b: SubscriptionRow): number =>
  Number(isUnproven(b)) - Number(isUnproven(a)) || a.last_active_at.getTime() - b.last_active_at.getTime();

const isUnproven = ({ unproven_since: since = null }: SubscriptionRow): boolean => since !== null;

export const isFull = (error: unknown): boolean =>
  error instanceof AppError && error.code === "HS_CONFLICT" && error.details["status"] === "full";
