import { type DocumentOf, showAs } from "../../schema/json/show.ts";
import { Suppression, type SuppressionReason } from "../../schema/suppressions/suppression.ts";
import { removalOf } from "./strength.ts";

/** What an entry's view is made of. */
export type ViewedSuppression = Omit<DocumentOf<typeof Suppression>, "id" | "removable"> & {
  _id: string;
  reason: SuppressionReason;
};

/** An entry as the REST interface shows it: every member, always. */
export const suppressionView = (row: ViewedSuppression): Suppression =>
  showAs(Suppression, { ...row, id: row._id, removable: removalOf(row.reason) !== "never" });
