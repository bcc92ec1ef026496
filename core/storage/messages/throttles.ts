import type { Db } from "mongodb";
import { dayMs } from "../../domain/durations.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";

/** Until when sends of a throttled message have their instants: its next ones come after that. */
export type ThrottleRow = {
  /** The message's id. */
  _id: string;
  tenant_id: string;
  app_id: string;
  /** Milliseconds since 1970, with parts of one. */
  next_ms: number;
  expires_at: Date;
};

export const throttleCollection: CollectionSpec = {
  name: "throttles",
  indexes: [
    { key: { app_id: 1 }, name: "app" },
    { key: { expires_at: 1 }, name: "retention", expireAfterSeconds: 0 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

export type Throttles = ReturnType<typeof throttles>;

export const throttles = (db: Db) => {
  const rows = collectionOf<ThrottleRow>(db, throttleCollection);
  return {
    /**
     * Reserves `forMs` of a message's time for sends of one chunk, from `now` at the earliest and after everything that was
     * reserved before; gives when it begins. What was not used of earlier time is lost.
     */
    reserve: async (
      { tenantId, appId }: OfApp,
      messageId: string,
      { now, forMs }: { now: Date; forMs: number },
    ): Promise<number> => {
      const next = { $add: [{ $max: ["$next_ms", now.getTime()] }, forMs] };
      const expires = new Date(now.getTime() + keptMs);
      const reserve = () =>
        rows.findOneAndUpdate({ _id: messageId }, [{ $set: { next_ms: next, expires_at: expires } }], {
          returnDocument: "after",
        });
      let row = await reserve();
      if (row === null) {
        // FerretDB gives two that upsert the first at once the same document
        await insertNew(rows, { _id: messageId, tenant_id: tenantId, app_id: appId, next_ms: 0, expires_at: expires });
        row = await reserve();
      }
      return (row?.next_ms ?? now.getTime() + forMs) - forMs; // null: its app was removed meanwhile
    },
  };
};

const keptMs = 2 * dayMs; // after the last reservation: nothing of a message waits longer for its next
