import type { Clock } from "#core/domain/clock.ts";
import type { ChunkRow, Chunks } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { WaitingDeliveries } from "#core/storage/messages/waiting.ts";
import { deliveryIdOf } from "./delivery/delivery-row.ts";

export type WithdrawDeps = {
  chunks: Pick<Chunks, "scheduled" | "waitingWithRows" | "withdraw">;
  waiting: Pick<WaitingDeliveries, "cancel">;
  messages: {
    /** Notes that nothing of it waits any more. */
    withdrawn: (id: string) => Promise<void>;
    /** Has it looked at again at once. */
    withdrawAgain: (id: string, at: Date) => Promise<void>;
  };
  clock: Clock;
};

/** Of one message at a time: 2,000 recipients, so that other timers are not kept waiting. */
const chunksAtOnce = 4;

/** Cancels what waits of a message that was cancelled, a part at a time. May run twice. */
export const withdraw =
  ({ chunks, waiting, messages, clock }: WithdrawDeps) =>
  async ({ _id }: Pick<MessageRow, "_id">): Promise<void> => {
    const scheduled = await chunks.scheduled(_id, chunksAtOnce);
    const left = scheduled.length > 0 ? scheduled : await chunks.waitingWithRows(_id, chunksAtOnce);
    if (left.length === 0) return messages.withdrawn(_id);
    for (const chunk of left) await cancelWaiting(waiting)(chunk, clock.now());
    await chunks.withdraw(left.map((chunk) => chunk._id));
    await messages.withdrawAgain(_id, clock.now());
  };

/** Ends those deliveries of a chunk's recipients that wait. */
export const cancelWaiting =
  (waiting: Pick<WaitingDeliveries, "cancel">) =>
  ({ message_id: messageId, recipients }: ChunkRow, now: Date): Promise<void> =>
    waiting.cancel(
      recipients.map((id) => deliveryIdOf(messageId, id)),
      now,
    );
