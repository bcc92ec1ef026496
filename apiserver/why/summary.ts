import type { Clock } from "#core/domain/clock.ts";
import { type WhySummary, whyGates } from "#core/schema/why/why.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Ended } from "#core/storage/why/ends.ts";
import { gateOf } from "./explain.ts";

export type SummaryDeps = {
  ends: (messageId: string) => Promise<Ended[]>;
  leftOut: (app: AppRow, message: MessageRow) => Promise<number | null>;
  clock: Clock;
};

type Line = WhySummary["gates"][number];

/**
 * How many recipients of a message stopped at which gate, or how far they got. The sum is the audience and those whom its
 * excluded segments kept out.
 */
export const whySummary =
  ({ ends, leftOut, clock }: SummaryDeps) =>
  async (app: AppRow, message: MessageRow): Promise<WhySummary> => {
    const { _id, planned, counts, completed_at: completedAt } = message;
    const [found, excluded] = await Promise.all([ends(_id), leftOut(app, message)]);
    const ended = found.map(lineOf);
    const known = ended.reduce((sum, { count }) => sum + count, 0);
    const waiting = completedAt === null ? Math.max(0, (counts.targeted ?? 0) - known) : 0;
    const lines = [
      ...ended,
      ...(waiting > 0 ? [{ ...waits, count: waiting }] : []),
      ...(excluded ? [{ ...isExcluded, count: excluded }] : []),
    ];
    return {
      message_id: _id,
      recipients: known + waiting,
      excluded,
      gates: joined(lines).sort((a, b) => whyGates.indexOf(a.gate) - whyGates.indexOf(b.gate) || b.count - a.count),
      is_planned: planned,
      as_of: clock.now().toISOString(),
    };
  };

const waits: Omit<Line, "count"> = { gate: "send", verdict: "wait", reason: null };
const isExcluded: Omit<Line, "count"> = { gate: "excluded", verdict: "stop", reason: null };

const lineOf = ({ status, reason, count }: Ended): Line => {
  switch (status) {
    case "suppressed":
      return { gate: gateOf(reason ?? "")?.gate ?? "send", verdict: "stop", reason, count };
    case "failed":
    case "errored":
    case "expired":
    case "cancelled":
      return { gate: "send", verdict: "stop", reason, count };
    case "bounced":
      return { gate: "receipt", verdict: "stop", reason, count };
    case "queued":
    case "scheduled":
      return { ...waits, reason, count };
    case "sent":
      return { gate: "send", verdict: "pass", reason: null, count };
    case "delivered":
    case "complained":
    case "unsubscribed":
      return { gate: "receipt", verdict: "pass", reason: null, count };
    case "opened":
      return { gate: "open", verdict: "pass", reason: null, count };
    case "clicked":
      return { gate: "click", verdict: "pass", reason: null, count };
  }
};

/** Several statuses may be one line. */
const joined = (lines: readonly Line[]): Line[] =>
  [...Map.groupBy(lines, ({ gate, verdict, reason }) => `${gate} ${verdict} ${reason ?? ""}`).values()].flatMap(
    ([first, ...rest]) =>
      first === undefined ? [] : [{ ...first, count: rest.reduce((sum, { count }) => sum + count, first.count) }],
  );
