import type { Clock } from "#core/domain/clock.ts";
import { conversationEvent } from "#core/domain/conversations/events.ts";
import { notAccepted } from "#core/domain/conversations/reply.ts";
import { hourMs } from "#core/domain/durations.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { Conversations } from "#core/storage/conversations/conversations.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import { deliveryIdOf } from "#core/storage/messages/deliveries.ts";
import { sweepAfter } from "#core/storage/work/due.ts";

export type UnsentDeps = {
  store: Pick<Conversations, "put" | "failUnsent">;
  /** Those of these notifications that there are. */
  accepted: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  clock: Clock;
};

const givenUpMs = 60_000; // a request that would still have them accepted is over by then
const mostMs = 12 * hourMs; // the notification of an older one may have been kept no longer

/**
 * Has replies fail that are in their conversation and were never accepted: their request was killed in between, and not repeated.
 * Gives whether the conversation is to be looked at again in some seconds, and as it is by now. May be done twice.
 */
export const failUnsent =
  ({ store, accepted, clock }: UnsentDeps) =>
  async (read: ConversationRow): Promise<{ isEarly: boolean; row: ConversationRow }> => {
    const now = clock.now();
    const ageOf = ({ created_at: at }: ConversationMessageRow): number => now.getTime() - at.getTime();
    const replies = read.appended.filter(isReply).filter((one) => ageOf(one) < mostMs);
    const ids = replies.map(({ message_id: id }) => id);
    const known = ids.length === 0 ? new Set<string>() : await accepted(ids);
    const unsent = replies.filter(({ message_id: id }) => !known.has(id));
    if (unsent.length === 0) return { isEarly: false, row: read };
    if (unsent.some((one) => ageOf(one) < givenUpMs)) return { isEarly: true, row: read };
    await store.failUnsent(unsent);
    const seq = read.seq + 1;
    const events = unsent.map((one) => failedEvent(read, one, { seq, now }));
    const appended = read.appended.filter((one) => !unsent.some(({ _id }) => _id === one._id));
    const row = { ...read, seq, appended, outbox: [...read.outbox, ...events], due_at: sweepAfter(now) };
    return { isEarly: !(await store.put(read, row)), row };
  };

type Reply = ConversationMessageRow & { message_id: string };

const isReply = (row: ConversationMessageRow): row is Reply =>
  row.direction === "outbound" && row.message_id !== undefined;

const failedEvent = (conversation: ConversationRow, reply: Reply, { seq, now }: { seq: number; now: Date }) =>
  conversationEvent("hs.conversation.message_failed", {
    conversation,
    cause: "timer",
    seq,
    from: [reply._id],
    at: now,
    more: {
      message_id: reply.message_id,
      delivery_id: deliveryIdOf(reply.message_id, reply.subscription_id),
      error: notAccepted,
    },
  });
