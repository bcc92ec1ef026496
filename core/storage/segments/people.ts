import type { Db } from "mongodb";
import type { Query } from "../../domain/filters/pre-filter.ts";
import type { FilteredPerson, FilteredSubscription } from "../../domain/filters/subject.ts";
import { type Judged, judge } from "../../domain/segments/judge.ts";
import type { Selection } from "../../domain/segments/members.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { idsBehind } from "../mongo/page-range.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { mostOfUser } from "../people/subscriptions.ts";
import { aliasKey, type UserRow, userCollection } from "../people/users.ts";
import type { FactsOf } from "./facts.ts";

/** What filters read of a subscription, and whose it is. */
export type ReadSubscription = FilteredSubscription &
  Pick<SubscriptionRow, "_id" | "user_id" | "external_id" | "channel" | "status">;

export type SegmentPeople = ReturnType<typeof segmentPeople>;

const pagePeople = 500; // in memory at once, with their subscriptions
const oneReply = pagePeople * mostOfUser + 1; // what a page finds comes in one

/** Whom to read: whom the store finds by `query`, with the facts that `asks` for of those who `mayPass`. */
export type Reading = { query: Query } & Pick<Selection, "asks" | "mayPass" | "isOfPeople">;

/** Reads people as filters see them. */
export const segmentPeople = (db: Db, factsOf: FactsOf) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);

  const ownedBy = async (appId: string, userIds: readonly string[]): Promise<Map<string, ReadSubscription[]>> => {
    const mine = { app_id: appId, user_id: { $in: [...userIds] } };
    const found = await subscriptions
      .find<ReadSubscription>(mine, { projection: readOfSubscriptions, hint: "user", batchSize: oneReply })
      .toArray();
    return Map.groupBy(found, ({ user_id: owner }) => owner);
  };

  const withTheirs = async (appId: string, people: readonly FilteredPerson[]): Promise<Judged<ReadSubscription>[]> => {
    const owned = await ownedBy(
      appId,
      people.map(({ _id }) => _id),
    );
    return people.map((person) => ({ person, subscriptions: owned.get(person._id) ?? [] }));
  };

  return {
    /** Everybody of an app whom `query` finds and who may pass, in pages and in the order of ids. */
    all: async function* (
      of: OfApp,
      reading: Reading,
      signal: AbortSignal,
    ): AsyncGenerator<Judged<ReadSubscription>[]> {
      let after = "";
      while (!signal.aborted) {
        const people = await users
          .find<FilteredPerson>(
            { ...reading.query, app_id: of.appId, _id: idsBehind("user", after) },
            { projection: readOfPeople, hint: "app", batchSize: pagePeople + 1 },
          )
          .sort({ _id: 1 })
          .limit(pagePeople)
          .toArray();
        const last = people.at(-1);
        if (last === undefined) return;
        yield await withFacts(factsOf, of, reading)(await withTheirs(of.appId, people));
        after = last._id;
      }
    },

    /** Somebody by their external id, with the facts that are asked for; null when nobody has it. */
    called: async (
      { tenantId, appId }: OfApp,
      externalId: string,
      asks: Selection["asks"],
    ): Promise<Judged<ReadSubscription> | null> => {
      const named = { app_id: appId, alias_keys: aliasKey("external_id", externalId), tenant_id: tenantId };
      const person = await users.findOne<FilteredPerson>(named, { projection: readOfPeople });
      if (person === null) return null;
      const theirs = await withTheirs(appId, [person]);
      const whole = { asks, mayPass: () => true, isOfPeople: true };
      return (await withFacts(factsOf, { tenantId, appId }, whole)(theirs))[0] ?? null;
    },
  };
};

/** Leaves those who may pass, with the facts that are asked for. */
const withFacts =
  (factsOf: FactsOf, of: OfApp, { asks, mayPass, isOfPeople }: Omit<Reading, "query">) =>
  async (all: Judged<ReadSubscription>[]): Promise<Judged<ReadSubscription>[]> => {
    if (asks === null) return all;
    const may = all.filter((one) => judge({ passes: mayPass, isOfPeople }, one).isMember);
    const facts = await factsOf(of, asks, {
      userIds: may.map(({ person }) => person._id),
      subscriptions: may.flatMap((one) => one.subscriptions),
    });
    return may.map((one) => ({ ...one, facts }));
  };

/** Everything that filters read. */
export const readOfPeople = {
  external_id: 1,
  aliases: 1,
  tags: 1,
  properties: 1,
  language: 1,
  time_zone: 1,
  country: 1,
  first_seen_at: 1,
  last_active_at: 1,
  created_at: 1,
  session_count: 1,
  session_time: 1,
  amount_spent: 1,
  location: 1,
  lists: 1,
} as const satisfies Record<Exclude<keyof FilteredPerson, "_id">, 1>;

export const readOfSubscriptions = {
  user_id: 1,
  external_id: 1,
  channel: 1,
  token: 1,
  status: 1,
  test_device: 1,
  device: 1,
  created_at: 1,
} as const satisfies Record<Exclude<keyof ReadSubscription, "_id">, 1>;
