import type { Clock } from "#core/domain/clock.ts";
import { AppError, NotFound } from "#core/errors.ts";
import type { Cancelling } from "#core/storage/messages/cancelling.ts";
import type { Chunks } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Messages } from "#core/storage/messages/messages.ts";
import type { Settling } from "#core/storage/messages/settlement.ts";

export type CancelDeps = {
  messages: Pick<Messages, "cancel" | "cancelCut" | "cancelWaiting" | "cancelScheduled" | "cancelForced" | "find">;
  chunks: Pick<Chunks, "isCut">;
  /** Gives back what it had reserved; what fails here is done by the timer. */
  settle: (message: Settling, now: Date) => Promise<void>;
  clock: Clock;
};

/** Who cancels, and whether what is being sent is to be stopped. */
export type CancelRequest = { by: MessageRow["requested_by"]; isForced: boolean };

/** Cancels a message of which nothing was sent; by force also what is left of another. Source: docs/reference/messages.md#cancelling. */
export const cancel =
  (deps: CancelDeps) =>
  async (message: MessageRow, { by, isForced }: CancelRequest, signal: AbortSignal): Promise<MessageRow> => {
    if (message.status === "cancelled") return message;
    const { messages, settle, clock } = deps;
    const how = { now: clock.now(), by };
    const { tenant_id: tenantId, _id: id } = message;
    const untouched = await cancelUntouched(deps, message, how);
    const cancelled = untouched ?? (isForced ? await messages.cancelForced(message, how) : null);
    if (cancelled !== null) {
      await settle(cancelled, how.now);
      return cancelled;
    }
    const current = await messages.find(tenantId, id, signal);
    if (current === null) throw new NotFound("notification");
    if (current.status === "cancelled") return current;
    throw new AppError("HS_CONFLICT", "the notification is being sent or has ended", { status: current.status });
  };

/** Null when something of it was handed over. */
const cancelUntouched = async (
  { messages, chunks }: CancelDeps,
  message: MessageRow,
  how: Cancelling,
): Promise<MessageRow | null> => {
  const { tenant_id: tenantId, _id: id } = message;
  return (
    (await messages.cancel(tenantId, id, how)) ??
    (await messages.cancelWaiting(tenantId, id, how)) ??
    (await messages.cancelScheduled(tenantId, id, how)) ??
    ((await chunks.isCut(id)) ? messages.cancelCut(message, how) : null)
  );
};
