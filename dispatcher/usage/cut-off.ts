import type { Clock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { elapsedFrom, type MonotonicMs } from "#core/runtime/process/elapsed.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type ChunkRow, chunkSize } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { DeliveryCounts } from "#core/storage/usage/delivery-counts.ts";
import type { LeasedTo } from "#core/storage/work/leases.ts";
import { deliveryIdOf } from "../messages/delivery/delivery-row.ts";

export type CutOffDeps = {
  messages: { leased: (to: LeasedTo) => Promise<MessageRow[]> };
  chunks: {
    leased: (to: LeasedTo) => Promise<ChunkRow[]>;
    last: (messageId: string) => Promise<ChunkRow | null>;
    recipientsOfRetries: (parentId: string) => Promise<string[]>;
    retriedOf: (messageId: string) => Promise<string[]>;
  };
  deliveries: {
    existing: (ids: readonly string[]) => Promise<DeliveryRow[]>;
    /** Null when there are more. */
    ofSmall: (messageId: string, most: number) => Promise<DeliveryRow[] | null>;
  };
  count: DeliveryCounts["count"];
  timing: Pick<Timing, "leaseMs">;
  clock: Clock;
  /** `performance.now()` when left out. */
  monotonicMs?: MonotonicMs;
  log: Log;
};

/**
 * What is counted here has to be counted before another process may have sent it again and forgotten it: parts of a lease
 * that has to be left at the beginning, and that may be spent until something is counted.
 */
const parts = { left: 1 / 6, spent: 1 / 12 };
const mostAtOnce = 4;

/**
 * Counts, for a process that is silent and may have been killed, the deliveries that it stored of what it still has leases
 * on. Whoever sends that again finds it counted. May be done by several processes, and of one that is alive.
 * Source: docs/reference/usage.md#exactness.
 */
export const countCutOff = (deps: CutOffDeps) => {
  const underWay = new Set<string>();
  const run = async (holder: string): Promise<void> => {
    const now = deps.clock.now();
    const { leaseMs } = deps.timing;
    const spentMs = elapsedFrom(deps.clock, deps.monotonicMs);
    const to = {
      holder,
      after: new Date(now.getTime() + leaseMs * parts.left),
      until: new Date(now.getTime() + leaseMs),
    };
    const [chunks, messages] = [await deps.chunks.leased(to), await deps.messages.leased(to)];
    const add = async (id: string, tenantId: string, stored: readonly DeliveryRow[]): Promise<void> => {
      if (spentMs() < leaseMs * parts.spent) await deps.count({ id, tenantId, holder: id }, stored);
    };
    await mapBounded(chunks, mostAtOnce, async (one) => add(one._id, one.tenant_id, await storedOf(deps, one)));
    await mapBounded(messages, mostAtOnce, async (one) => add(one._id, one.tenant_id, await storedOfSmall(deps, one)));
  };
  return async (holder: string): Promise<void> => {
    if (underWay.has(holder)) return;
    underWay.add(holder);
    await run(holder)
      .catch((err: unknown) => deps.log.warn({ err, holder }, "usage.cut_off_not_counted"))
      .finally(() => underWay.delete(holder));
  };
};

/** What the next run of a chunk finds stored. */
const storedOf = async ({ chunks, deliveries }: CutOffDeps, chunk: ChunkRow): Promise<DeliveryRow[]> => {
  if (chunk.looks_at !== undefined) return []; // what was sent to its recipients is counted by who sent it
  const retried = new Set(await chunks.recipientsOfRetries(chunk._id));
  const ids = chunk.recipients.filter((id) => !retried.has(id)).map((id) => deliveryIdOf(chunk.message_id, id));
  return ids.length === 0 ? [] : deliveries.existing(ids);
};

/** The same of a small message, which is sent in its first turn. One in chunks has none itself; devices count by themselves. */
const storedOfSmall = async ({ chunks, deliveries }: CutOffDeps, message: MessageRow): Promise<DeliveryRow[]> => {
  const { _id, planned, live_activity: activity } = message;
  if (planned || activity !== undefined || (await chunks.last(_id)) !== null) return [];
  const [stored, retried] = [await deliveries.ofSmall(_id, chunkSize), new Set(await chunks.retriedOf(_id))];
  return stored?.filter((row) => !retried.has(row.subscription_id)) ?? [];
};
