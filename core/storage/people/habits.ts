import type { Db } from "mongodb";
import { type Signal, signalsForMs, signalWeights } from "../../domain/messages/best-hour.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { collectionOf } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";

/** When somebody opened and clicked what they were sent, and when they were active last. */
export type ReadHabits = { signals: Signal[]; lastActiveAt: Date | null };

export type HabitsOf = ReturnType<typeof habitsOf>;

const peopleAtOnce = 100; // in one $in, with which the store compares all that it finds
const mostRead = 10_000; // deliveries of them, the latest
const none: readonly Signal[] = [];

/** Reads what is known of when the owners of at most 500 subscriptions read, by subscription. */
export const habitsOf = (db: Db) => {
  const deliveries = collectionOf<DeliveryRow>(db, deliveryCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);

  const reported = (appId: string, userIds: readonly string[], now: Date): Promise<DeliveryRow[]> =>
    inPages(userIds, peopleAtOnce, (some) =>
      deliveries
        .find(
          {
            user_id: { $in: some },
            sent_at: { $gte: new Date(now.getTime() - signalsForMs), $lte: now },
            app_id: appId,
          },
          { projection: { user_id: 1, opened_at: 1, clicked_at: 1 }, hint: "sent_to" },
        )
        .sort({ sent_at: -1 })
        .limit(mostRead)
        .toArray(),
    );

  return async (
    appId: string,
    of: readonly Pick<SubscriptionRow, "_id" | "user_id">[],
    now: Date,
  ): Promise<Map<string, ReadHabits>> => {
    const ids = of.map(({ _id }) => _id);
    const [rows, active] = await Promise.all([
      reported(appId, [...new Set(of.map(({ user_id: userId }) => userId))], now),
      subscriptions
        .find({ _id: { $in: ids } }, { projection: { last_active_at: 1 }, batchSize: ids.length + 1 })
        .toArray(),
    ]);
    const signals = new Map<string, Signal[]>();
    for (const row of rows)
      signals.set(row.user_id ?? "", [...(signals.get(row.user_id ?? "") ?? none), ...signalsOf(row)]);
    const lastActive = new Map(active.map(({ _id, last_active_at: at }) => [_id, at]));
    return new Map(
      of.map(({ _id, user_id: userId }) => [
        _id,
        { signals: signals.get(userId) ?? [], lastActiveAt: lastActive.get(_id) ?? null },
      ]),
    );
  };
};

const signalsOf = ({ opened_at: openedAt, clicked_at: clickedAt }: DeliveryRow): Signal[] => [
  ...(openedAt === undefined ? [] : [{ at: openedAt, weight: signalWeights.opened }]),
  ...(clickedAt === undefined ? [] : [{ at: clickedAt, weight: signalWeights.clicked }]),
];
