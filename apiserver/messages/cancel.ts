import type { Clock } from "#core/domain/clock.ts";
import { AppError, NotFound } from "#core/errors.ts";
import type { Chunks } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Messages } from "#core/storage/messages/messages.ts";
import type { Settling } from "#core/storage/messages/settlement.ts";

export type CancelDeps = {
  messages: Pick<Messages, "cancel" | "cancelCut" | "cancelWaiting" | "cancelScheduled" | "find">;
  chunks: Pick<Chunks, "isCut">;
  /** Gives back what it had reserved; what fails here is done by the timer. */
  settle: (message: Settling, now: Date) => Promise<void>;
  clock: Clock;
};

/** Cancels a message of which nothing was sent. Source: docs/reference/messages.md#cancelling. */
export const cancel =
  ({ messages, chunks, settle, clock }: CancelDeps) =>
  async (message: MessageRow, signal: AbortSignal): Promise<MessageRow> => {
    if (message.status === "cancelled") return message;
    const now = clock.now();
    const { tenant_id: tenantId, _id: id } = message;
    const cancelled =
      (await messages.cancel(tenantId, id, now)) ??
      (await messages.cancelWaiting(tenantId, id, now)) ??
      (await messages.cancelScheduled(tenantId, id, now)) ??
      ((await chunks.isCut(id)) ? await messages.cancelCut(tenantId, id, now) : null);
    if (cancelled !== null) {
      await settle(cancelled, now);
      return cancelled;
    }
    const current = await messages.find(tenantId, id, signal);
    if (current === null) throw new NotFound("notification");
    if (current.status === "cancelled") return current;
    throw new AppError("HS_CONFLICT", "the notification is being sent or has ended", { status: current.status });
  };
