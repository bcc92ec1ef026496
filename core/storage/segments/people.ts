import type { Collection, Db } from "mongodb";
import type { Query } from "../../domain/filters/pre-filter.ts";
import type { FilteredPerson, FilteredSubscription } from "../../domain/filters/subject.ts";
import { type Judged, judge } from "../../domain/segments/judge.ts";
import type { Selection } from "../../domain/segments/members.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { idsBehind } from "../mongo/page-range.ts";
import { inPages } from "../mongo/pages.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { mostOfUser } from "../people/subscriptions.ts";
import { aliasKey, type UserRow, userCollection } from "../people/users.ts";
import type { FactsOf } from "./facts.ts";

/** What filters read of a subscription, and whose it is. */
export type ReadSubscription = FilteredSubscription &
  Pick<SubscriptionRow, "_id" | "user_id" | "external_id" | "channel" | "status">;

export type SegmentPeople = ReturnType<typeof segmentPeople>;

/** In memory at once, with their subscriptions. Each page costs two questions; of properties a person may have many kB. */
const pagePeople = { usual: 2_000, withProperties: 500 };
const sizeOf = (pages: typeof pagePeople, reads: Reading["reads"]): number =>
  reads === undefined || reads.users.includes("properties") ? pages.withProperties : pages.usual;
/**
 * Subscriptions that lie between those of a page of people, for each of them, up to which reading all costs less than asking
 * for these.
 */
const mostBetween = 10;
const askedAtOnce = 100; // in one $in, with which the store compares all that it finds

/** Whom to read: whom the store finds by `query`, with the facts that `asks` for of those who `mayPass`. */
export type Reading = { query: Query } & Pick<Selection, "asks" | "mayPass" | "isOfPeople"> & {
    /** What is needed of them; everything that filters read where it is left out. */
    reads?: Selection["reads"] | undefined;
  };

/** Reads people as filters see them. */
export const segmentPeople = (db: Db, factsOf: FactsOf, pages = pagePeople) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);

  const peopleBehind = (appId: string, { query, reads }: Reading, after: string): Promise<FilteredPerson[]> => {
    const filter = { ...query, app_id: appId, _id: idsBehind("user", after) };
    const projection = reads === undefined ? readOfPeople : projected(["external_id", ...reads.users]);
    const limit = sizeOf(pages, reads);
    return users
      .find<FilteredPerson>(filter, { projection, hint: "app", batchSize: limit + 1 })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
  };

  return {
    /**
     * Everybody of an app whom `query` finds and who may pass, in pages and in the order of ids. While one page is worked on, the
     * subscriptions of the next and the people of the one after that are read: three pages are in memory at most.
     */
    all: async function* (
      of: OfApp,
      reading: Reading,
      signal: AbortSignal,
    ): AsyncGenerator<Judged<ReadSubscription>[]> {
      const size = sizeOf(pages, reading.reads);
      const ownedBy = subscriptionsOf(subscriptions, size);
      const found = async (people: readonly FilteredPerson[]) =>
        withFacts(factsOf, of, reading)(await withTheirs(ownedBy, of.appId, people, reading.reads));
      let next = peopleBehind(of.appId, reading, "");
      let before: Promise<Judged<ReadSubscription>[]> | null = null;
      while (!signal.aborted) {
        const people = await next;
        const last = people.at(-1);
        next = people.length < size ? Promise.resolve([]) : peopleBehind(of.appId, reading, last?._id ?? "");
        const page = last === undefined ? null : found(people);
        for (const ahead of [next, page]) ahead?.catch(() => undefined); // whoever goes on hears of it
        if (before !== null) yield await before;
        if (page === null) return;
        before = page;
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
      const theirs = await withTheirs(subscriptionsOf(subscriptions, 1), appId, [person]);
      const whole = { asks, mayPass: () => true, isOfPeople: true };
      return (await withFacts(factsOf, { tenantId, appId }, whole)(theirs))[0] ?? null;
    },
  };
};

type OwnedBy = ReturnType<typeof subscriptionsOf>;

/** The members that are read of documents, beside `_id`. */
export const projected = (members: readonly string[]): Record<string, 1> =>
  Object.fromEntries(members.map((name): [string, 1] => [name, 1]));

/**
 * Reads the subscriptions of a page of people, in the order of their ids: all that lie between the first and the last, one
 * range of the index. To ask for so many by name costs three times as much; it costs less where those who are asked for are
 * few among others, which is remembered.
 */
const subscriptionsOf = (rows: Collection<SubscriptionRow>, pagePeople: number) => {
  const most = pagePeople * mostBetween;
  let areFew = false;
  return async (appId: string, userIds: readonly string[], projection: object): Promise<ReadSubscription[]> => {
    const [first = "", last = ""] = [userIds[0], userIds.at(-1)];
    const find = (user_id: { $gte: string; $lte: string } | { $in: string[] }, limit: number) =>
      rows
        .find<ReadSubscription>({ app_id: appId, user_id }, { projection, hint: "user", batchSize: limit + 1, limit })
        .toArray();
    const few = areFew ? null : await find({ $gte: first, $lte: last }, most + 1);
    areFew = few === null || few.length > most;
    if (few !== null && !areFew) return few;
    return inPages(userIds, askedAtOnce, (page) => find({ $in: page }, page.length * mostOfUser + 1));
  };
};

/** Finds the subscriptions of a page of people. */
const withTheirs = async (
  ownedBy: OwnedBy,
  appId: string,
  people: readonly FilteredPerson[],
  reads?: Selection["reads"],
): Promise<Judged<ReadSubscription>[]> => {
  const owned = await ownedBy(
    appId,
    people.map(({ _id }) => _id),
    reads === undefined ? readOfSubscriptions : projected(["user_id", "channel", "status", ...reads.subscriptions]),
  );
  const byOwner = Map.groupBy(owned, ({ user_id: owner }) => owner);
  return people.map((person) => ({ person, subscriptions: byOwner.get(person._id) ?? [] }));
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
