import type { Collection } from "mongodb";
import type { Selection } from "../../domain/segments/members.ts";
import { mapBounded } from "../../runtime/batching/bounded.ts";
import { findIds } from "../mongo/pages.ts";
import type { SubscriptionRow } from "../people/subscription-row.ts";
import { mostOfUser } from "../people/subscriptions.ts";
import type { UserRow } from "../people/users.ts";

/** Ids in one $in: keeps each query's plan an index probe. */
export const pageSize = 500;

/** A subscription of somebody who may pass. */
export type FewSubscription = Pick<SubscriptionRow, "_id" | "channel" | "status" | "test_device">;

/** So many are looked at before it is said that few of them are meant. */
const enough = 2_000;
/** Of a hundred that are looked at fewer are meant than this. */
const fewOfHundred = 1;
/** People in memory at most, with their subscriptions: some 20 MB where each has twenty. */
const mostPeople = 10_000;
const usersAtOnce = 100; // in one $in, with which the store compares all that it finds

type Looked = { looked: number; meant: number; found: readonly FewSubscription[] | null; isSought: boolean };

/**
 * The way by few people first: where hardly any subscription that a scan looks at is meant, those who can be are sought by
 * what the store can judge of people, and the scan goes on among their subscriptions alone, in the same order.
 */
export const fewPeople = (users: Collection<UserRow>, subscriptions: Collection<SubscriptionRow>) => {
  const all = new WeakMap<Selection, Looked>(); // while one program reads by it

  const seek = async (appId: string, selection: Selection): Promise<readonly FewSubscription[] | null> => {
    const query = selection.query("users");
    if (Object.keys(query).length === 0) return null;
    const ids = await findIds(users, { app_id: appId, ...query }, { limit: mostPeople + 1 });
    if (ids.length > mostPeople) return null;
    const pages = Array.from({ length: Math.ceil(ids.length / usersAtOnce) }, (_, i) =>
      ids.slice(i * usersAtOnce, (i + 1) * usersAtOnce),
    );
    const options = { projection: members, hint: "user", batchSize: usersAtOnce * mostOfUser + 1 };
    const found = await mapBounded(pages, pagesAtOnce, (page) =>
      subscriptions.find<FewSubscription>({ app_id: appId, user_id: { $in: page } }, options).toArray(),
    );
    return found.flat().sort((a, b) => (a._id < b._id ? -1 : 1));
  };

  return {
    /** Those that are known already; null when nobody sought them, or they are not few. */
    known: (selection: Selection): readonly FewSubscription[] | null => all.get(selection)?.found ?? null,

    /** Notes how many of some rows are meant, and seeks once so many were looked at that they seem to be few. */
    sought: async (
      appId: string,
      selection: Selection,
      { of, are }: { of: number; are: number },
    ): Promise<readonly FewSubscription[] | null> => {
      const one = all.get(selection) ?? { looked: 0, meant: 0, found: null, isSought: false };
      all.set(selection, one);
      one.looked += of;
      one.meant += are;
      if (one.isSought || one.looked < enough || one.meant * 100 >= one.looked * fewOfHundred) return one.found;
      one.isSought = true;
      one.found = await seek(appId, selection);
      return one.found;
    },
  };
};

const members = { channel: 1, status: 1, test_device: 1 } as const;
const pagesAtOnce = 4;
