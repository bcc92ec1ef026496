import type { Db, Filter } from "mongodb";
import { instantsBetween } from "../../domain/messages/slots.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf, longAgo, type OfApp } from "../mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { type ChunkRow, chunkCollection } from "./chunks.ts";

/** A recipient who waits in a chunk, without a delivery of their own. `position`: their place among all of these. */
export type WaitingRecipient = {
  position: string;
  chunk: Pick<ChunkRow, "channel" | "created_at" | "zone_unknown"> & { scheduled_for: Date };
  subscription: Pick<SubscriptionRow, "_id" | "user_id" | "external_id" | "token">;
};

export type ScheduledList = ReturnType<typeof scheduledList>;

/** Behind the position of every delivery, which is a ULID. */
const sign = "~";

/** Whether a position is that of somebody who waits in a chunk. */
export const isOfChunk = (position: string): boolean => position.startsWith(sign);

export type WaitingPlace = { after: string | null; isDescending: boolean; limit: number };
export type WaitingOf = { messageId: string; channel?: Channel | undefined; subscriptionId?: string | undefined };

/** Reads who waits for their time in chunks of a message, in the order of their instants. */
export const scheduledList = (db: Db) => {
  const chunks = collectionOf<ChunkRow>(db, chunkCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);

  const placesOf = async (of: WaitingOf): Promise<Place[]> => {
    const found = [filterOf(of), throttledOf(of)].map((filter) => chunks.find<Place>(filter, { projection: place }));
    return (await Promise.all(found.map((cursor) => cursor.toArray()))).flat();
  };

  const recipientsOf = async ({ tenantId, appId }: OfApp, chunk: Scheduled): Promise<WaitingRecipient[]> => {
    const filter = { _id: { $in: chunk.recipients }, app_id: appId, tenant_id: tenantId };
    const found = await subscriptions
      .find(filter, { projection: shown, batchSize: chunk.recipients.length + 1 })
      .toArray();
    const atOf = expectedOf(chunk);
    return found.map((subscription) => ({
      chunk: { ...chunk, scheduled_for: atOf(subscription._id) },
      subscription,
      position: `${keyOf(chunk)} ${subscription._id}`,
    }));
  };

  return {
    page: async (
      app: OfApp,
      of: WaitingOf,
      { after, isDescending, limit }: WaitingPlace,
    ): Promise<WaitingRecipient[]> => {
      const turn = isDescending ? -1 : 1;
      const isBehind = (key: string): boolean => after === null || (isDescending ? key < after : key > after);
      const inOrder = (await placesOf(of)).map((one) => ({ _id: one._id, key: keyOf(one) }));
      const left = inOrder.filter(({ key }) => isBehind(key) || (after?.startsWith(`${key} `) ?? false));
      const page: WaitingRecipient[] = [];
      for (const { _id } of left.sort((a, b) => (a.key < b.key ? -turn : turn))) {
        const chunk = await chunks.findOne<Scheduled>({ _id, status: { $in: ["scheduled", "waiting"] } });
        const all = chunk === null ? [] : await recipientsOf(app, chunk);
        const wanted = all.filter(({ position, subscription }) => isBehind(position) && isMeant(of, subscription));
        page.push(...wanted.sort((a, b) => (a.position < b.position ? -turn : turn)));
        if (page.length >= limit) break;
      }
      return page.slice(0, limit);
    },
  };
};

/** One that waits for its time, or for the chunks before it. */
type Scheduled = ChunkRow & ({ scheduled_for: Date } | { expected: NonNullable<ChunkRow["expected"]> });
type Place = Pick<ChunkRow, "_id" | "scheduled_for" | "expected">;

const place = { scheduled_for: 1, expected: 1 } as const;
const shown = { user_id: 1, external_id: 1, token: 1 } as const;

const keyOf = ({ _id, scheduled_for: at, expected }: Place): string =>
  `${sign}${(at ?? expected?.from ?? longAgo).toISOString()} ${_id}`;

/** When each of its recipients is due: those of a throttled message one after another. */
const expectedOf = ({ scheduled_for: at, expected, recipients }: ChunkRow): ((id: string) => Date) => {
  if (at !== undefined) return () => at;
  const { from, until } = expected ?? { from: longAgo, until: longAgo };
  return instantsBetween(recipients, from, until);
};

const isMeant = ({ subscriptionId }: WaitingOf, { _id }: { _id: string }): boolean =>
  subscriptionId === undefined || _id === subscriptionId;

/** Chunks of a throttled message that wait for those before them. */
const throttledOf = ({ messageId, ...of }: WaitingOf): Filter<ChunkRow> => ({
  message_id: messageId,
  status: "waiting",
  position: { $gte: 0 },
  has_rows: { $exists: false },
  expected: { $exists: true },
  ...narrowed(of),
});

const filterOf = ({ messageId, ...of }: WaitingOf): Filter<ChunkRow> => ({
  message_id: messageId,
  status: "scheduled",
  scheduled_for: { $gt: longAgo, $lt: new Date("9999-01-01") }, // both ends: else the planner does not take the index
  has_rows: { $exists: false },
  looks_at: { $exists: false }, // its recipients were sent to
  ...narrowed(of),
});

const narrowed = ({ channel, subscriptionId }: Omit<WaitingOf, "messageId">): Filter<ChunkRow> => ({
  ...(channel !== undefined && { channel }),
  ...(subscriptionId !== undefined && { recipients: subscriptionId }),
});
