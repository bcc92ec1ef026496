import type { Clock } from "#core/domain/clock.ts";
import { makeEvent } from "#core/domain/events/make.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { DeliveryRow, StatusCount } from "#core/storage/messages/deliveries.ts";
import { type Counts, countKeys, type MessageRow } from "#core/storage/messages/messages.ts";

type End = { status: "completed" | "failed"; error: string | null; counts: Counts };

export type CompleteDeps = {
  tally: (messageId: string) => Promise<StatusCount[]>;
  finish: (message: MessageRow, end: End & { at: Date; event: EventEnvelope; dueAt: Date }) => Promise<boolean>;
  /** Publishes the outbox now; what fails here is published when `dueAt` passes. */
  flush: (message: Pick<MessageRow, "_id" | "tenant_id" | "outbox" | "traceparent">) => Promise<unknown>;
  /** Settles the quota: what was reserved at accept against what was sent. */
  settleQuota: (message: MessageRow, sent: number) => Promise<void>;
  /** The message as the REST interface shows it. */
  describe: (message: MessageRow) => Record<string, unknown>;
  clock: Clock;
};

const sweepMs = 10_000;

/** Ends a message whose every delivery is stored: its counters are rebuilt from them, or from `all` of them. */
export const complete =
  (deps: CompleteDeps) =>
  async (message: MessageRow, all?: readonly DeliveryRow[]): Promise<void> => {
    const groups = all === undefined ? await deps.tally(message._id) : grouped(all);
    await end(deps, message, { ...verdict(groups), counts: rebuild(groups) });
  };

const grouped = (rows: readonly DeliveryRow[]): StatusCount[] =>
  [...Map.groupBy(rows, (row) => `${row.status} ${row.error_code ?? ""}`).values()].flatMap((group) => {
    const [first] = group;
    return first === undefined
      ? []
      : [
          {
            status: first.status,
            error_code: first.error_code ?? null,
            count: group.length,
            uncertain: uncertainOf(group),
          },
        ];
  });

const uncertainOf = (rows: readonly DeliveryRow[]): number => rows.filter(({ uncertain }) => uncertain === true).length;

/** Ends a message that could not be sent at all. */
export const fail =
  (deps: CompleteDeps) =>
  (message: MessageRow, error: string): Promise<void> =>
    end(deps, message, { status: "failed", error, counts: rebuild([]) });

const end = async (deps: CompleteDeps, message: MessageRow, how: End): Promise<void> => {
  const at = deps.clock.now();
  const ended = { ...message, ...how, planned: true, completed_at: at, updated_at: at };
  const event = makeEvent({
    kind: how.status === "completed" ? "message.completed" : "message.failed",
    appId: message.app_id,
    subjectId: message._id,
    at,
    from: [message._id],
    data: deps.describe(ended),
  });
  const isOurs = await deps.finish(message, { ...how, at, event, dueAt: new Date(at.getTime() + sweepMs) });
  if (!isOurs) return;
  await deps.settleQuota(message, how.counts.sent ?? 0);
  await deps.flush({ ...message, outbox: [event] });
};

/** Failed only when someone was to be reached and nobody was. Source: decisions 7.2. */
const verdict = (groups: readonly StatusCount[]): Pick<End, "status" | "error"> => {
  const { targeted = 0, suppressed = 0, sent = 0 } = rebuild(groups);
  if (sent > 0 || targeted === suppressed) return { status: "completed", error: null };
  const worst = groups.filter(({ status }) => status !== "suppressed").sort((a, b) => b.count - a.count)[0];
  return { status: "failed", error: worst?.error_code ?? "INTERNAL" };
};

/** All counters, from the deliveries. Whatever was accepted by a provider counts as sent, however far it got. */
const rebuild = (groups: readonly StatusCount[]): Counts => {
  const counts = Object.fromEntries(countKeys.map((key) => [key, 0])) as Required<Counts>; // every key is set
  for (const { status, count, uncertain } of groups) {
    counts.targeted += count;
    counts.uncertain += uncertain;
    if (status === "sent" || status === "delivered" || status === "opened" || status === "clicked")
      counts.sent += count;
    if (status === "failed" || status === "errored" || status === "expired" || status === "suppressed")
      counts[status] += count;
  }
  return counts;
};
