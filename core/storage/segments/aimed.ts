import type { Collection, Db } from "mongodb";
import type { Query } from "../../domain/filters/pre-filter.ts";
import type { FilteredPerson } from "../../domain/filters/subject.ts";
import type { Selection } from "../../domain/segments/members.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type AppStretch, stretchFilter } from "../people/subscription-counts.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { mostOfUser } from "../people/subscriptions.ts";
import { type UserRow, userCollection } from "../people/users.ts";
import type { FactsOf } from "./facts.ts";
import { type ReadSubscription, readOfPeople, readOfSubscriptions } from "./people.ts";

export type AimedSubscriptions = ReturnType<typeof aimedSubscriptions>;

/** Ids in one $in: keeps each query's plan an index probe. */
const pageSize = 500;
const batchSize = pageSize + 1; // what a page finds comes in one reply

/** Reads the subscriptions that a selection means. The store leaves out what it can; the selection decides. */
export const aimedSubscriptions = (db: Db, factsOf: FactsOf) => {
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const users = collectionOf<UserRow>(db, userCollection);

  const passing = passingIn(users, factsOf);

  return {
    factsOf,

    /**
     * The first `limit` subscriptions of a stretch behind `after` that are meant, in the order of ids; fewer when the stretch
     * ends, and what was found when `isOver` says so.
     */
    page: async (
      { after, limit, tenantId, ...of }: AppStretch & OfApp & { after: string; limit: number },
      selection: Selection,
      isOver: () => boolean = () => false,
    ): Promise<{ rows: ReadSubscription[]; isWhole: boolean }> => {
      const query = narrowed(selection.query("subscriptions"));
      const found: ReadSubscription[] = [];
      let behind: string | undefined = after;
      while (behind !== undefined && found.length < limit && !isOver()) {
        const rows: ReadSubscription[] = await subscriptions
          .find<ReadSubscription>(
            { ...stretchFilter(of, behind), ...query },
            { projection: readOfSubscriptions, batchSize },
          )
          .sort({ _id: 1 })
          .limit(pageSize)
          .toArray();
        found.push(...(await passing({ tenantId, appId: of.appId }, rows, selection)));
        behind = rows.at(-1)?._id;
      }
      return { rows: found.slice(0, limit), isWhole: behind === undefined };
    },

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
    inPages(userIds, pageSize, (page) =>
      subscriptions
        .find<OwnedSubscription>(
          { app_id: appId, user_id: { $in: page } },
          { projection: readOfOwned, hint: "user", batchSize: pageSize * mostOfUser + 1 },
        )
        .toArray(),
    );

/** Those of some subscriptions whose users, and who themselves, pass. */
const passingIn =
  (users: Collection<UserRow>, factsOf: FactsOf) =>
  async <Row extends ReadSubscription>(
    of: OfApp,
    rows: readonly Row[],
    { passes, query, asks, mayPass }: Selection,
  ): Promise<Row[]> => {
    if (rows.length === 0) return [];
    const ids = [...new Set(rows.map(({ user_id: id }) => id))];
    const found = await users
      .find<FilteredPerson>(
        { _id: { $in: ids }, app_id: of.appId, ...narrowed(query("users")) },
        { projection: readOfPeople, batchSize },
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

/** Beside other members of a query, which it may name, too. */
const narrowed = (query: Query): Query => (Object.keys(query).length === 0 ? {} : { $and: [query] });
