import { parseFilter } from "#core/domain/filters/parse.ts";
import { filterWarnings } from "#core/domain/filters/warnings.ts";
import { showAs } from "#core/schema/json/show.ts";
import { Segment } from "#core/schema/segments/segment.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import type { UsedBy } from "#core/storage/segments/used-by.ts";

/** A segment with what names it. */
export type ShownSegment = SegmentRow & { used_by?: UsedBy[] };

/** A segment as the REST interface shows it. */
export const segmentView = (row: ShownSegment): Segment =>
  showAs(Segment, {
    ...row,
    id: row._id,
    warnings: row.filter === null ? [] : filterWarnings(parseFilter(row.filter), row.unknown_tags),
    used_by: row.used_by ?? [],
    managed: row.managed !== null && row.managed.policy === "Enforce",
  });
