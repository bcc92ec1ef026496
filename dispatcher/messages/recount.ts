import type { Clock } from "#core/domain/clock.ts";
import type { Counts } from "#core/schema/messages/message.ts";
import type { StatusCount } from "#core/storage/messages/deliveries.ts";
import type { Effects } from "#core/storage/messages/effects.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { allCountsOf, isOptimized } from "./counts.ts";

export type RecountDeps = {
  deliveries: { tally: (messageId: string, isOptimized?: boolean) => Promise<StatusCount[]> };
  effects: Pick<Effects, "tally">;
  messages: {
    /** Stores counters unless some moved since the message was read. */
    recounted: (message: Recounted, counted: Counted) => Promise<void>;
    /** Leaves the message alone until then. */
    recountAt: (id: string, at: Date) => Promise<void>;
  };
  clock: Clock;
};

export type Recounted = Pick<
  MessageRow,
  "_id" | "updated_at" | "counted_at" | "completed_at" | "counts" | "reserved" | "variants" | "options" | "measured"
>;

type Counted = Pick<MessageRow, "variant_counts" | "timing_counts" | "effect_counts"> & {
  counts: Counts;
  at: Date;
  again: Date;
} & Unsettled;
type Unsettled = Pick<MessageRow, "unsettled">;

const quietMs = 10_000; // since a counter moved last: receipts mostly come together
const firstMs = 60_000; // after the counters were made

/**
 * Makes the counters of a message that has ended anew, once no receipt has come for a while. The pauses in between grow
 * with its age, because a large message takes seconds to count.
 */
export const recount =
  ({ deliveries, effects, messages, clock }: RecountDeps) =>
  async (message: Recounted): Promise<void> => {
    const nowMs = clock.now().getTime();
    const dueMs = dueOf(message, nowMs);
    if (dueMs > nowMs) return messages.recountAt(message._id, new Date(dueMs));
    const counted = allCountsOf(message, await deliveries.tally(message._id, isOptimized(message)));
    const measured = message.measured === undefined ? {} : { effect_counts: await effects.tally(message._id) };
    const again = new Date(nowMs + firstMs);
    await messages.recounted(message, {
      ...counted,
      ...measured,
      at: clock.now(),
      again,
      ...sentLate(message, counted.counts),
    });
  };

/** What was sent after the end, to devices that an update had waited for, is charged beyond what was reserved. */
const sentLate = ({ reserved, counts: { sent: before = 0 } }: Recounted, { sent = 0 }: Counts): Unsettled =>
  reserved === null || sent <= before ? {} : { unsettled: before - sent };

const dueOf = ({ updated_at: movedAt, counted_at: countedAt, completed_at: endedAt }: Recounted, nowMs: number) => {
  const ageMs = nowMs - (endedAt ?? movedAt).getTime();
  const afterLastMs = countedAt === undefined ? 0 : countedAt.getTime() + Math.max(firstMs, ageMs / 4);
  return Math.max(movedAt.getTime() + quietMs, afterLastMs);
};
