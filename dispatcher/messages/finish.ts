import type { Clock } from "#core/domain/clock.ts";
import { makeEvent } from "#core/domain/events/make.ts";
import { messageEventData } from "#core/domain/messages/views.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { Counts } from "#core/schema/messages/message.ts";
import type { DeliveryRow, StatusCount } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Settling } from "#core/storage/messages/settlement.ts";
import { allCountsOf, countsOf, grouped, isOptimized } from "./counts.ts";
import { fallsBack } from "./fallback/chunks.ts";

type End = { status: "completed" | "failed"; error: string | null; counts: Counts; unsettled?: number } & Pick<
  MessageRow,
  "variant_counts" | "timing_counts"
>;

export type FinishDeps = {
  deliveries: { tally: (messageId: string, isOptimized?: boolean) => Promise<StatusCount[]> };
  messages: {
    /** False when another has taken over. */
    finish: (message: MessageRow, end: End & { at: Date; event: EventEnvelope }) => Promise<boolean>;
    /** What is reserved for it by now. */
    reservedOf: (id: string) => Promise<MessageRow["reserved"]>;
  };
  /** Publishes the message's events now; what fails here is published by the timer. */
  outbox: { flush: (message: Pick<MessageRow, "_id" | "tenant_id" | "outbox" | "traceparent">) => Promise<unknown> };
  /** Gives back what the message had reserved and did not use; what fails here is done by the timer. */
  settle: (message: Settling, now: Date) => Promise<void>;
  clock: Clock;
};

export type Finish = ReturnType<typeof finish>;

export const finish = (deps: FinishDeps) => ({
  /** Ends a message whose every delivery is stored: its counters are made anew from them, or from `all` of them. */
  complete: async (message: MessageRow, all?: readonly DeliveryRow[]): Promise<void> => {
    const { _id, reserved } = message;
    const now = fallsBack(message) && reserved !== null ? await deps.messages.reservedOf(_id) : reserved; // fallbacks add to it
    const groups = all === undefined ? await deps.deliveries.tally(message._id, isOptimized(message)) : grouped(all);
    await end(deps, { ...message, reserved: now }, { ...verdict(groups), ...allCountsOf(message, groups) });
  },
  /** Ends a message that could not be sent at all. */
  fail: (message: MessageRow, error: string): Promise<void> =>
    end(deps, message, { status: "failed", error, counts: countsOf([]) }),
});

const end = async (deps: FinishDeps, message: MessageRow, ended: End): Promise<void> => {
  const at = deps.clock.now();
  const how = { ...ended, ...unsettledOf(message, ended) };
  const row = { ...message, ...how, planned: true, completed_at: at, updated_at: at };
  const event = makeEvent({
    kind: how.status === "completed" ? "message.completed" : "message.failed",
    appId: message.app_id,
    subjectId: message._id,
    at,
    from: [message._id],
    data: messageEventData(row),
  });
  if (!(await deps.messages.finish(message, { ...how, at, event }))) return;
  await deps.settle(row, at);
  await deps.outbox.flush({ ...message, outbox: [event] });
};

/** What was reserved when the message was accepted, and was not sent; nothing when there is none of that. */
const unsettledOf = ({ reserved }: MessageRow, { counts }: End): Pick<MessageRow, "unsettled"> => {
  const unsettled = reserved === null ? 0 : reserved.count - (counts.sent ?? 0);
  return unsettled === 0 ? {} : { unsettled };
};

/** Failed only when someone was to be reached and nobody was. Source: docs/reference/messages.md#message-status. */
const verdict = (groups: readonly StatusCount[]): Pick<End, "status" | "error"> => {
  const { targeted, suppressed, sent } = countsOf(groups);
  const waiting = groups.filter(({ status }) => status === "scheduled").reduce((sum, { count }) => sum + count, 0);
  if (sent > 0 || targeted === suppressed + waiting) return { status: "completed", error: null };
  const worst = groups.filter(({ status }) => status !== "suppressed").sort((a, b) => b.count - a.count)[0];
  return { status: "failed", error: worst?.error_code ?? "INTERNAL" };
};
