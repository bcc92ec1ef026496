import type { Clock } from "#core/domain/clock.ts";
import { AppError, NotFound } from "#core/errors.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Messages } from "#core/storage/messages/messages.ts";
import type { Settling } from "#core/storage/messages/settlement.ts";

export type CancelDeps = {
  messages: Pick<Messages, "cancel" | "find">;
  /** Gives back what it had reserved; what fails here is done by the timer. */
  settle: (message: Settling, now: Date) => Promise<void>;
  clock: Clock;
};

/** Cancels a message that nobody has begun. Source: docs/reference/messages.md#cancelling. */
export const cancel =
  ({ messages, settle, clock }: CancelDeps) =>
  async (message: MessageRow, signal: AbortSignal): Promise<MessageRow> => {
    if (message.status === "cancelled") return message;
    const now = clock.now();
    const cancelled = await messages.cancel(message.tenant_id, message._id, now);
    if (cancelled !== null) {
      await settle(cancelled, now);
      return cancelled;
    }
    const current = await messages.find(message.tenant_id, message._id, signal);
    if (current === null) throw new NotFound("notification");
    if (current.status === "cancelled") return current;
    throw new AppError("HS_CONFLICT", "the notification is being sent or has ended", { status: current.status });
  };
