import type { Clock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import { type ChunkRow, resendPosition } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { noWork } from "#core/storage/work/due.ts";

export type KeepResendsDeps = {
  /** The plan that each of these messages was accepted under. */
  plansOf: (messageIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Writes chunks that are not there yet. */
  keep: (chunks: readonly ChunkRow[]) => Promise<unknown>;
  clock: Clock;
};

/**
 * Has deliveries that wait sent again when their time comes: each by a chunk of its own, whose id follows from the delivery
 * and its attempts, so that a callback that is read again makes no second one.
 */
export const keepResends =
  ({ plansOf, keep, clock }: KeepResendsDeps) =>
  async (waiting: readonly DeliveryRow[]): Promise<void> => {
    if (waiting.length === 0) return;
    const plans = await plansOf([...new Set(waiting.map(({ message_id: id }) => id))]);
    const now = clock.now();
    await keep(
      waiting.flatMap((row) => {
        const plan = plans.get(row.message_id); // none when the message is gone, with its deliveries
        return plan === undefined ? [] : chunkOf(row, plan, now);
      }),
    );
  };

const chunkOf = (row: DeliveryRow, plan: string, now: Date): ChunkRow[] => {
  const { scheduled_for: dueAt, resend_until: until, sent_at: sentAt } = row;
  if (dueAt === undefined || until === undefined) return [];
  return [
    {
      ...noWork,
      _id: derivedId("chunk", row._id, String(row.attempts)),
      message_id: row.message_id,
      tenant_id: row.tenant_id,
      app_id: row.app_id,
      plan,
      channel: row.channel,
      position: resendPosition,
      status: "open",
      recipients: [row.subscription_id],
      scanned: null,
      parent_id: null,
      attempt: row.attempts,
      may_overlap: true,
      may_have_arrived: false,
      dispatched_at: sentAt ?? row.created_at,
      resend_until: until,
      due_at: dueAt,
      created_at: now,
    },
  ];
};
