import { gather } from "../../runtime/batching/gather.ts";
import type { OfApp } from "../mongo/collection.ts";
import type { SubscriptionRow } from "./subscription-row.ts";

export type AskedTogether = {
  /** Reads the subscriptions of an app that have any of these keys, at most `mostTogether`. */
  read: (of: OfApp, keys: readonly string[]) => Promise<SubscriptionRow[]>;
  /** The key of a subscription that was read. */
  keyOf: (row: SubscriptionRow) => string;
};

/** Keys of one query. */
export const mostTogether = 100;

/**
 * Reads a subscription by a key that is unique in its app. Those that are asked for in the same turn of the event loop, or
 * while others are being read, share a query for each app.
 */
export const askedTogether = ({ read, keyOf }: AskedTogether) => {
  const ask = gather<Asked, SubscriptionRow | null>({
    write: async (all) => {
      const ofApps = [...Map.groupBy(all, nameOf).values()];
      const rows = await Promise.all(ofApps.map((asked) => read(ofOne(asked), keysOf(asked))));
      const found = new Map(rows.flat().map((row) => [`${row.app_id} ${keyOf(row)}`, row]));
      return all.map(({ of, key }) => found.get(`${of.appId} ${key}`) ?? null);
    },
    most: mostTogether,
    inFlight: 2,
    isOfTurn: true,
  });
  return (of: OfApp, key: string): Promise<SubscriptionRow | null> => ask({ of, key });
};

type Asked = { of: OfApp; key: string };

const nameOf = ({ of: { tenantId, appId } }: Asked): string => `${tenantId} ${appId}`;

/** All of them are of one app. */
const ofOne = ([first]: readonly Asked[]): OfApp => {
  if (first === undefined) throw new Error("a group has members");
  return first.of;
};

const keysOf = (asked: readonly Asked[]): string[] => [...new Set(asked.map(({ key }) => key))];
