import { parseFilter } from "#core/domain/filters/parse.ts";
import { filterWarnings } from "#core/domain/filters/warnings.ts";
import type { SegmentStatus } from "#core/schema/segments/resource.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import type { UsedBy } from "#core/storage/segments/used-by.ts";

/** Whom a segment has, and what names it. */
export const statusOf = (row: Partial<SegmentRow>, usedBy: readonly UsedBy[]): Partial<SegmentStatus> => {
  const warnings = row.filter == null ? [] : filterWarnings(parseFilter(row.filter, "spec.filter"), row.unknown_tags);
  return {
    ...(row.app_id !== undefined && { appId: row.app_id }),
    ...countsOf(row),
    ...(usedBy.length > 0 && { usedBy: [...usedBy] }),
    ...(warnings.length > 0 && {
      warnings: warnings.slice(0, mostWarnings).map((one) => one.slice(0, mostCharacters)),
    }),
  };
};

const mostWarnings = 20; // as the CRD has it
const mostCharacters = 512; // as the CRD has it

/** Nothing until it was counted. */
const countsOf = ({ count, by_channel, counted_at }: Partial<SegmentRow>): Partial<SegmentStatus> => {
  if (count == null || counted_at == null) return {};
  const recipients = Object.entries(by_channel ?? {})
    .map(([channel, of]) => ({ channel, count: of }))
    .sort((a, b) => (a.channel < b.channel ? -1 : 1));
  return { users: count, recipients, countedAt: counted_at.toISOString() };
};
