import type { SegmentKind } from "../../schema/segments/segment.ts";
import type { Managed } from "../settings/managed.ts";
import type { Changeable } from "../work/intended-changes.ts";

/** A part of an app's users. The segments that `filter` names stand in it by their ids, which `names` repeats. */
export type SegmentRow = Changeable & {
  _id: string;
  tenant_id: string;
  app_id: string;
  name: string;
  description: string | null;
  kind: SegmentKind;
  filter: object | null;
  names: string[];
  /** Users in it, and their subscriptions by channel, at `counted_at`; null until it was counted. */
  count: number | null;
  by_channel: Record<string, number> | null;
  counted_at: Date | null;
  /** Tags of its filter that nobody had when it was counted after its last change. */
  unknown_tags?: string[];
  managed: Managed | null;
  created_at: Date;
  updated_at: Date;
};
