import type { Db } from "mongodb";
import type { Clock } from "../../domain/clock.ts";
import type { Facts, FilteredSubscription } from "../../domain/filters/subject.ts";
import type { Asks } from "../../domain/segments/members.ts";
import type { KeyRing } from "../../runtime/process/key-ring.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { mostOfUser } from "../people/subscriptions.ts";
import { type UserRow, userCollection } from "../people/users.ts";
import { type Addressed, findSuppressed } from "../suppressions/find-suppressed.ts";
import { suppressionKeys } from "../suppressions/keys.ts";
import { suppressions } from "../suppressions/suppressions.ts";
import { type HistoryName, historyCounts } from "./history.ts";

/** About whom facts are read. */
export type AskedAbout = { userIds: readonly string[]; subscriptions: readonly Addressed[] };

/** Reads what filters ask about some people beside what is read of everybody. */
export type FactsOf = (of: OfApp, asks: Asks, about: AskedAbout) => Promise<Facts>;

type FactsDeps = { db: Db; secrets: Pick<KeyRing, "seal" | "open">; clock: Clock };

const pageUsers = 100; // in one $in, with which the store compares all that it finds

/** Source: docs/reference/filters.md#past-events. */
export const filterFacts = ({ db, secrets, clock }: FactsDeps): FactsOf => {
  const namesOf = historyNames(db);
  const counts = historyCounts(db);
  const held = findSuppressed({
    suppressions: suppressions(db),
    subjectsOf: suppressionKeys(db, secrets, clock),
    clock,
  });

  const suppressed = async (of: OfApp, all: readonly Addressed[]): Promise<ReadonlySet<string>> => {
    const byChannel = Map.groupBy(all, ({ channel }) => channel).values();
    const found: string[] = [];
    for (const some of byChannel) found.push(...(await held(of, withoutCategory, some)).keys());
    return new Set(found);
  };

  return async (of, { history, isSuppressed, at }, { userIds, subscriptions }) => {
    const onList = isSuppressed ? await suppressed(of, subscriptions) : null;
    const names = history.length === 0 ? [] : await inPages(userIds, pageUsers, (page) => namesOf(of.appId, page));
    const done = new Map<string, ReadonlyMap<string, number>>();
    for (const ask of history) done.set(ask.key, await counts(of.appId, ask, names, at));
    const known = new Set(userIds);
    return {
      countOf: (key, userId) => {
        const counted = done.get(key);
        if (counted === undefined || !known.has(userId)) throw unread();
        return counted.get(userId) ?? 0;
      },
      isSuppressed: ({ _id: id }: FilteredSubscription) => {
        if (onList === null || id === undefined) throw unread();
        return onList.has(id);
      },
    };
  };
};

const withoutCategory = { category: null, reachesUnsubscribed: false };

const unread = () => new RangeError("a filter asks for facts that were not read");

/** All names of some people: what they did is stored under the one that was known then. */
const historyNames = (db: Db) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const projection = { alias_keys: 1, merged_keys: 1 } as const;
  return async (appId: string, page: string[]): Promise<HistoryName[]> => {
    const [people, owned] = await Promise.all([
      users.find({ _id: { $in: page }, app_id: appId }, { projection, batchSize: page.length + 1 }).toArray(),
      subscriptions
        .find(
          { app_id: appId, user_id: { $in: page } },
          { projection: { user_id: 1 }, hint: "user", batchSize: page.length * mostOfUser + 1 },
        )
        .toArray(),
    ]);
    return [
      ...people.flatMap(({ _id: userId, alias_keys: keys, merged_keys: merged = [] }) =>
        [userId, ...[...keys, ...merged].flatMap(nameOf)].map((name) => ({ name, userId })),
      ),
      ...owned.map(({ _id: name, user_id: userId }) => ({ name, userId })),
    ];
  };
};

const ownLabel = "user_id:";

/** Of a key of somebody: that of an external id as it is, our ids of users who were merged into them without the label. */
const nameOf = (key: string): string[] => {
  if (key.startsWith(ownLabel)) return [key.slice(ownLabel.length)];
  return key.startsWith("external_id:") ? [key] : [];
};
