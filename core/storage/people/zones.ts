import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";
import { type UserRow, userCollection } from "./users.ts";

/** What is known of the clock of a subscription: the zone of its device, else of its user. */
export type ClockOf = {
  zone: string | null;
  country: string | null;
  /** `properties.quiet_hours` of its user. */
  quietHours: unknown;
};

export type ZonesOf = ReturnType<typeof zonesOf>;

/** A subscription whose clock is asked for; its row is read where it has no `device` yet. */
export type Clocked = Pick<SubscriptionRow, "_id" | "user_id"> & {
  device?: SubscriptionRow["device"];
};

/** Users by their ids, with what says their clock, for a caller that has read them. */
export type ReadUsers = () => Promise<ReadonlyMap<string, ClockMembers>>;

/**
 * Reads what is known of the clocks of at most 500 subscriptions (a chunk's). Those that are gone are left out. Users are read
 * only where the caller does not.
 */
export const zonesOf = (db: Db) => {
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const users = collectionOf<UserRow>(db, userCollection);

  const devicesOf = async (ids: readonly string[]) =>
    ids.length === 0
      ? []
      : subscriptions
          .find({ _id: { $in: [...ids] } }, { projection: { "device.timezone": 1 }, batchSize: ids.length + 1 })
          .toArray();

  const usersOf = async (of: readonly Clocked[]): Promise<ReadonlyMap<string, ClockMembers>> => {
    const ids = [...new Set(of.map(({ user_id: userId }) => userId))];
    const options = { projection: clockMembers, batchSize: ids.length + 1 };
    const found = await users.find<ClockMembers>({ _id: { $in: ids } }, options).toArray();
    return new Map(found.map((user) => [user._id, user]));
  };

  return async (of: readonly Clocked[], read: ReadUsers = () => usersOf(of)): Promise<Map<string, ClockOf>> => {
    const unread = of.filter(({ device }) => device === undefined).map(({ _id }) => _id);
    const [devices, byId] = await Promise.all([devicesOf(unread), read()]);
    const zones = new Map(devices.map(({ _id, device }) => [_id, device?.["timezone"]]));
    return new Map(
      of.map(({ _id, user_id: userId, device }) => [
        _id,
        clockOf(device?.["timezone"] ?? zones.get(_id), byId.get(userId)),
      ]),
    );
  };
};

const clockMembers = {
  time_zone: 1,
  country: 1,
  "properties.timezone": 1,
  "properties.quiet_hours": 1,
} as const;

type ClockMembers = Pick<UserRow, "_id" | "time_zone" | "country"> & { properties?: UserRow["properties"] };

/** Source: docs/reference/timing.md#time-zones. */
const clockOf = (ofDevice: string | undefined, person: ClockMembers | undefined): ClockOf => {
  const said = person?.properties?.["timezone"];
  const zone = ofDevice ?? person?.time_zone ?? (typeof said === "string" ? said : null);
  return { zone, country: person?.country ?? null, quietHours: person?.properties?.["quiet_hours"] };
};
