import { timeOf } from "#core/domain/clock.ts";
import { removalOf } from "#core/domain/suppressions/strength.ts";
import type { Suppression } from "#core/schema/suppressions/suppression.ts";
import type { SuppressionRow } from "#core/storage/suppressions/suppressions.ts";

/** An entry as the REST interface shows it: every member, always. */
export const suppressionView = (row: SuppressionRow): Suppression => ({
  id: row._id,
  app_id: row.app_id,
  channel: row.channel,
  address: row.address,
  external_id: row.external_id,
  user_id: row.user_id,
  reason: row.reason,
  source: row.source,
  categories: row.categories,
  message_id: null,
  delivery_id: null,
  provider_code: null,
  note: row.note,
  removable: removalOf(row.reason) !== "never",
  expires_at: timeOf(row.expires_at),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
