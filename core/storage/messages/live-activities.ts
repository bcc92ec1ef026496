import type { Db, Filter } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { everyIdOf, idsBehind } from "../mongo/page-range.ts";
import type { MessageRow } from "./message-row.ts";
import { messageCollection } from "./messages.ts";

export type LiveActivityMessages = ReturnType<typeof liveActivityMessages>;

const everyId = everyIdOf("message");

/** What was sent of live activities: the messages are the log that their states follow from. */
export const liveActivityMessages = (db: Db) => {
  const rows = collectionOf<MessageRow>(db, messageCollection);
  const found = (filter: Filter<MessageRow>, limit: number): Promise<MessageRow[]> =>
    rows.find(filter, { sort: { _id: -1 }, limit, batchSize: limit + 1, hint: "live_activity" }).toArray();
  return {
    /** The newest message of an activity that was not cancelled. */
    newest: async (activity: string): Promise<MessageRow | null> => {
      const filter = { "live_activity.activity": activity, _id: everyId, status: { $ne: "cancelled" as const } };
      return (await found(filter, 1))[0] ?? null;
    },

    /** The latest messages of an activity, the newest first. */
    latest: (activity: string, limit: number): Promise<MessageRow[]> =>
      found({ "live_activity.activity": activity, _id: everyId }, limit),

    /**
     * The newest update or end, accepted after a message of the same activity, that has begun: it will reach every device,
     * and can be cancelled no more.
     */
    newerBegun: async ({ _id, live_activity: live }: MessageRow): Promise<MessageRow | null> => {
      const begun = { status: { $nin: ["queued" as const, "cancelled" as const] } };
      const changes = { "live_activity.event": { $ne: "start" as const } };
      const filter = { "live_activity.activity": live?.activity ?? "", _id: idsBehind("message", _id) };
      return (await found({ ...filter, ...begun, ...changes }, 1))[0] ?? null;
    },

    byIds: (ids: readonly string[]): Promise<MessageRow[]> => rows.find({ _id: { $in: [...ids] } }).toArray(),
  };
};
