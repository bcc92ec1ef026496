import { type Counts, zeroCounts } from "#core/schema/messages/message.ts";
import type { DeliveryRow, StatusCount } from "#core/storage/messages/deliveries.ts";

/** How many of these deliveries ended how. */
export const grouped = (rows: readonly DeliveryRow[]): StatusCount[] =>
  [...Map.groupBy(rows, ({ status, error_code: code }) => `${status} ${code ?? ""}`).values()].flatMap((group) =>
    group.slice(0, 1).map(({ status, error_code: code }) => ({
      status,
      error_code: code ?? null,
      count: group.length,
      uncertain: group.filter(({ uncertain }) => uncertain === true).length,
    })),
  );

/** All counters of a message. Whatever was accepted by a provider counts as sent, however far it got. */
export const countsOf = (groups: readonly StatusCount[]): Required<Counts> => {
  const counts = zeroCounts();
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

/** The counters that these deliveries move. */
export const changesOf = (rows: readonly DeliveryRow[]): Counts =>
  Object.fromEntries(Object.entries(countsOf(grouped(rows))).filter(([key, count]) => count > 0 || key === "targeted"));
