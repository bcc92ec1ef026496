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

/** Reads what is known of the clocks of at most 500 subscriptions (a chunk's). Those that are gone are left out. */
export const zonesOf = (db: Db) => {
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const users = collectionOf<UserRow>(db, userCollection);

  return async (of: readonly Pick<SubscriptionRow, "_id" | "user_id">[]): Promise<Map<string, ClockOf>> => {
    const ids = of.map(({ _id }) => _id);
    const userIds = [...new Set(of.map(({ user_id: userId }) => userId))];
    const [devices, people] = await Promise.all([
      subscriptions
        .find({ _id: { $in: ids } }, { projection: { "device.timezone": 1 }, batchSize: ids.length + 1 })
        .toArray(),
      users
        .find<ClockMembers>({ _id: { $in: userIds } }, { projection: clockMembers, batchSize: userIds.length + 1 })
        .toArray(),
    ]);
    const zones = new Map(devices.map(({ _id, device }) => [_id, device?.["timezone"]]));
    const byId = new Map(people.map((person) => [person._id, person]));
    return new Map(of.map(({ _id, user_id: userId }) => [_id, clockOf(zones.get(_id), byId.get(userId))]));
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
