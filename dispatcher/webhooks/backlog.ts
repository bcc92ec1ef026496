import type { WebhookDeliveries } from "#core/storage/webhook-deliveries.ts";
import type { LaneQueue } from "./lane-queue.ts";

export type DueReaderDeps = { deliveries: Pick<WebhookDeliveries, "due" | "nextDueAt"> };

/** What a read brought into memory, and when the store has more; Infinity when that is not to be waited for. */
export type DueRead = { count: number; nextDueMs: number };

export type DueReader = (queue: LaneQueue, endpointId: string, now: Date) => Promise<DueRead>;

const pageRows = { least: 20, most: 200 };
const quickReadMs = 1_000;

/** Reads what is due at one endpoint, in pages that grow as long as one follows the other soon. */
export const dueReader = ({ deliveries }: DueReaderDeps): DueReader => {
  let readMs = 0;
  let rows = pageRows.least;
  return async (queue, endpointId, now) => {
    rows = now.getTime() - readMs < quickReadMs ? Math.min(rows * 2, pageRows.most) : pageRows.least;
    readMs = now.getTime();
    const limit = rows + queue.size; // those in memory may be read again
    const read = async () => {
      const statuses = ["pending", "failed"] as const;
      return (await Promise.all(statuses.map((status) => deliveries.due(endpointId, { status, now, limit })))).flat();
    };
    const count = await queue.readFrom(read, now.getTime());
    if (count > 0) return { count, nextDueMs: Number.POSITIVE_INFINITY };
    const next = await deliveries.nextDueAt(endpointId, now);
    return { count, nextDueMs: next?.getTime() ?? Number.POSITIVE_INFINITY };
  };
};
