import { isEnd, reportedOf } from "#core/domain/messages/progress.ts";
import { type Counts, zeroCounts } from "#core/schema/messages/message.ts";
import type { DeliveryRow, StatusCount } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";

/** How many of these deliveries ended how. */
export const grouped = (rows: readonly DeliveryRow[]): StatusCount[] =>
  [...Map.groupBy(rows, keyOf).values()].flatMap((group) =>
    group.slice(0, 1).map(({ status, error_code: code, variant_id: variant }) => ({
      status,
      variant_id: variant ?? null,
      error_code: code ?? null,
      count: group.length,
      reported: reportedIn(group),
      uncertain: group.filter(({ uncertain }) => uncertain === true).length,
      segments: group.reduce((sum, { sms_segments: segments = 0 }) => sum + segments, 0),
    })),
  );

const keyOf = ({ status, error_code: code, variant_id: variant }: DeliveryRow): string =>
  `${status} ${code ?? ""} ${variant ?? ""}`;

const reportedIn = (rows: readonly DeliveryRow[]): StatusCount["reported"] => {
  const reported: StatusCount["reported"] = {};
  for (const row of rows) for (const key of reportedOf(row)) reported[key] = (reported[key] ?? 0) + 1;
  return reported;
};

/** All counters of a message. Source: docs/reference/messages.md#counters. */
export const countsOf = (groups: readonly StatusCount[]): Required<Counts> => {
  const counts = zeroCounts();
  for (const { status, count, reported, uncertain, segments } of groups) {
    counts.targeted += count;
    counts.uncertain += uncertain;
    counts.sms_segments += segments;
    if (isEnd(status)) counts[status] += count;
    for (const [key, by] of Object.entries(reported)) counts[key as keyof typeof reported] += by; // sound: its keys
  }
  return counts;
};

/** The counters that these deliveries move. */
export const changesOf = (rows: readonly DeliveryRow[]): Counts => movedBy(grouped(rows));

const movedBy = (groups: readonly StatusCount[]): Counts =>
  Object.fromEntries(Object.entries(countsOf(groups)).filter(([key, count]) => count > 0 || key === "targeted"));

/** Whether each recipient is sent to in their own best hour. */
export const isOptimized = ({ options }: Pick<MessageRow, "options">): boolean =>
  options.delayed_option === "optimized";

/** Those of a message, of each of its variants, and of both parts of an optimised one. */
export const allCountsOf = (
  { variants, options }: Pick<MessageRow, "variants" | "options">,
  groups: readonly StatusCount[],
): { counts: Required<Counts> } & Pick<MessageRow, "variant_counts" | "timing_counts"> => ({
  counts: countsOf(groups),
  ...(isOptimized({ options }) && {
    timing_counts: {
      optimized: countsOf(groups.filter(({ timing }) => timing === "optimized")),
      control: countsOf(groups.filter(({ timing }) => timing === "control")),
    },
  }),
  ...(variants !== undefined && {
    variant_counts: Object.fromEntries(
      variants.map(({ id }) => [id, countsOf(groups.filter(({ variant_id: of }) => of === id))]),
    ),
  }),
});

/** The counters that these deliveries move, and those of the variants that they are of. */
export const allChangesOf = (
  rows: readonly DeliveryRow[],
): { ofMessage: Counts; ofVariants: Record<string, Counts> } => {
  const groups = grouped(rows);
  const byVariant = Map.groupBy(groups, ({ variant_id: id }) => id ?? null);
  const ofVariants = [...byVariant].flatMap(([id, some]) => (id === null ? [] : [[id, movedBy(some)] as const]));
  return { ofMessage: movedBy(groups), ofVariants: Object.fromEntries(ofVariants) };
};
