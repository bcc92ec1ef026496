import type { Collection, Db } from "mongodb";
import type { FilteredPerson } from "../../domain/filters/subject.ts";
import type { Selection } from "../../domain/segments/members.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { mostOfUser } from "../people/subscriptions.ts";
import { type UserRow, userCollection } from "../people/users.ts";
import type { FactsOf } from "./facts.ts";
import { fewPeople, pageSize } from "./few.ts";
import { projected, type ReadSubscription, readOfSubscriptions } from "./people.ts";
import { narrowed, type Page, type Place, type Range, rangeScanner, type Span, scanner } from "./scan.ts";

export type AimedSubscriptions = ReturnType<typeof aimedSubscriptions>;

const batchSize = pageSize + 1; // what a page finds comes in one reply
const usersAtOnce = 100; // in one $in, with which the store compares all that it finds

/** Reads the subscriptions that a selection means. The store leaves out what it can; the selection decides. */
export const aimedSubscriptions = (db: Db, factsOf: FactsOf) => {
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const users = collectionOf<UserRow>(db, userCollection);

  const passing = passingIn(users, factsOf);

  const few = fewPeople(users, subscriptions);
  const [scan, scanRange] = [scanner({ subscriptions, few, passing }), rangeScanner({ subscriptions, passing })];

  return {
    factsOf,

    /**
     * The first `limit` subscriptions of a stretch behind `after` that are meant, in the order of ids; fewer when the stretch
     * ends, and what was found when `isOver` says so, or `mostRows` were looked at.
     */
    page: (
      { after, limit, mostRows = Infinity, ...place }: Omit<Place, "selection"> & Span,
      selection: Selection,
      isOver?: () => boolean,
    ): Promise<Page> => scan({ ...place, selection }, { after, limit, mostRows }, isOver),

    /** Everybody of a range of a stretch who is meant, in pages and in the order of ids. */
    within: ({ after, until, ...place }: Omit<Place, "selection"> & Range, selection: Selection) =>
      scanRange({ ...place, selection }, { after, until }),

    /** Whether a page found that few can pass, who are known by now. */
    areFew: (selection: Selection): boolean => few.known(selection) !== null,

    /** Every subscription of these users. */
    ofUsers: ownedIn(subscriptions),

    /** Those of some subscriptions of an app that are meant. */
    passing: <Row extends ReadSubscription>(of: OfApp, rows: readonly Row[], selection: Selection): Promise<Row[]> =>
      inPages(rows, pageSize, (page) => passing(of, page, selection)),

    /** Ids of those of these subscriptions that are meant. */
    among: async (of: OfApp, ids: readonly string[], selection: Selection): Promise<Set<string>> => {
      const meant = await inPages(ids, pageSize, async (page) => {
        const rows = await subscriptions
          .find<ReadSubscription>(
            { _id: { $in: page }, app_id: of.appId },
            { projection: readOfSubscriptions, batchSize },
          )
          .toArray();
        return passing(of, rows, selection);
      });
      return new Set(meant.map(({ _id }) => _id));
    },
  };
};

/** A subscription among the others of its user. */
export type OwnedSubscription = ReadSubscription & Pick<SubscriptionRow, "last_active_at">;

const readOfOwned = { ...readOfSubscriptions, last_active_at: 1 } as const;

const ownedIn =
  (subscriptions: Collection<SubscriptionRow>) =>
  (appId: string, userIds: readonly string[]): Promise<OwnedSubscription[]> =>
    inPages(userIds, usersAtOnce, (page) =>
      subscriptions
        .find<OwnedSubscription>(
          { app_id: appId, user_id: { $in: page } },
          { projection: readOfOwned, hint: "user", batchSize: usersAtOnce * mostOfUser + 1 },
        )
        .toArray(),
    );

/** Those of some subscriptions whose users, and who themselves, pass. */
const passingIn =
  (users: Collection<UserRow>, factsOf: FactsOf) =>
  async <Row extends ReadSubscription>(
    of: OfApp,
    rows: readonly Row[],
    { passes, query, asks, mayPass, reads }: Selection,
  ): Promise<Row[]> => {
    if (rows.length === 0) return [];
    const ids = [...new Set(rows.map(({ user_id: id }) => id))];
    const found = await users
      .find<FilteredPerson>(
        { _id: { $in: ids }, app_id: of.appId, ...narrowed(query("users")) },
        { projection: projected(["external_id", ...reads.users]), batchSize },
      )
      .toArray();
    const owners = new Map(found.map((person) => [person._id, person]));
    const subjects = rows.flatMap((subscription) => {
      const person = owners.get(subscription.user_id);
      return person === undefined ? [] : [{ person, subscription }];
    });
    if (asks === null) return subjects.filter(passes).map(({ subscription }) => subscription);
    const may = subjects.filter(mayPass);
    const userIds = [...new Set(may.map(({ person }) => person._id))];
    const facts = await factsOf(of, asks, { userIds, subscriptions: may.map(({ subscription }) => subscription) });
    return may.flatMap((subject) => (passes({ ...subject, facts }) ? [subject.subscription] : []));
  };
