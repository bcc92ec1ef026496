import { type Collection, MongoBulkWriteError } from "mongodb";
import { gather } from "../../runtime/batching/gather.ts";
import type { SubscriptionRow } from "./subscription-row.ts";

/** A change of a subscription as it was read, without an event and without another token. */
export type SubscriptionChange = { read: SubscriptionRow; change: Partial<SubscriptionRow> };

/** Changes a subscription; null when it is gone, or no longer as it was read. */
export type ChangeOne = (one: SubscriptionChange) => Promise<SubscriptionRow | null>;

/**
 * Changes subscriptions. Those that are to be changed in the same turn of the event loop, or while others are being changed,
 * share a command. That says how many it found: where some were not as they were read, each is changed by itself, which it may
 * be twice.
 */
export const changedTogether = (rows: Collection<SubscriptionRow>, changeOne: ChangeOne): ChangeOne => {
  const change = gather<SubscriptionChange, SubscriptionRow | null | Error>({
    write: async (all) => {
      if (all.length > 1 && (await areAllMade(rows, all)))
        return all.map(({ read, change }) => ({ ...read, ...change }));
      return Promise.all(all.map((one) => changeOne(one).catch(asError)));
    },
    most: 100,
    inFlight: 2,
    isOfTurn: true,
  });
  return async (one) => {
    const changed = await change(one);
    if (changed instanceof Error) throw changed;
    return changed;
  };
};

/** In the order of their ids, so that two commands never wait for each other. */
const areAllMade = async (rows: Collection<SubscriptionRow>, all: readonly SubscriptionChange[]): Promise<boolean> => {
  const sorted = all.toSorted((a, b) => (a.read._id < b.read._id ? -1 : 1));
  const updates = sorted.map(({ read, change }) => ({ updateOne: { filter: asRead(read), update: { $set: change } } }));
  try {
    return (await rows.bulkWrite(updates, { ordered: false })).matchedCount === all.length;
  } catch (error) {
    if (error instanceof MongoBulkWriteError) return false;
    throw error;
  }
};

const asRead = ({ _id, tenant_id, status, user_id, token }: SubscriptionRow) => ({
  _id,
  tenant_id,
  status,
  user_id,
  token,
});

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error("no error", { cause: error }));
