import type { LiveActivityTypeRow } from "#core/storage/live-activities/types.ts";
import { type By, type Intended, intend } from "../settings/audit.ts";
import { activityTypeView } from "./views.ts";

type Verb = "created" | "updated" | "deleted";

type Row = LiveActivityTypeRow;
type Change = { before: Row; after: Row | null } | { before: null; after: Row };

/** A change of a live activity type, and what to tell of it. */
export const activityTypeChange = (by: By, verb: Verb, { before, after }: Change): Intended => {
  const { _id: id, app_id: appId } = before ?? after;
  return intend(by, {
    type: "live_activity_type",
    collection: "live_activity_types",
    id,
    appId,
    verb,
    before: before && activityTypeView(before),
    after: after && activityTypeView(after),
  });
};
