import { removalOf } from "#core/domain/suppressions/strength.ts";
import { showAs } from "#core/schema/json/show.ts";
import { Suppression } from "#core/schema/suppressions/suppression.ts";
import type { SuppressionRow } from "#core/storage/suppressions/suppressions.ts";

/** An entry as the REST interface shows it: every member, always. */
export const suppressionView = (row: SuppressionRow): Suppression =>
  showAs(Suppression, { ...row, id: row._id, removable: removalOf(row.reason) !== "never" });
