import { newId } from "#core/domain/ids.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";

/** A list with nobody on it. */
export const aSegment = (over: Partial<SegmentRow> = {}): SegmentRow => {
  const at = new Date();
  return {
    _id: newId("segment", at),
    tenant_id: "ten_1",
    app_id: "app_1",
    name: "a segment",
    description: null,
    kind: "list",
    filter: null,
    names: [],
    count: null,
    by_channel: null,
    counted_at: null,
    managed: null,
    created_at: at,
    updated_at: at,
    ...over,
  };
};
