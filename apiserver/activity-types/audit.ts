import type { LiveActivityTypeRow } from "#core/storage/live-activity-types.ts";
import { type AuditFact, type By, changeFact } from "../audit.ts";
import { activityTypeView } from "./views.ts";

type Verb = "created" | "updated" | "deleted";

type Row = LiveActivityTypeRow;
type Change = { before: Row; after: Row | null } | { before: null; after: Row };

/** What to tell of a change of a live activity type. */
export const activityTypeFact = (by: By, verb: Verb, { before, after }: Change): AuditFact => {
  const { _id: id, app_id: appId } = before ?? after;
  return changeFact(by, {
    type: "live_activity_type",
    id,
    appId,
    verb,
    before: before && activityTypeView(before),
    after: after && activityTypeView(after),
  });
};
