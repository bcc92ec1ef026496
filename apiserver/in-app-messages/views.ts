import type { InAppMessageCounts } from "#core/schema/in-app-messages/device.ts";
import { InAppMessage } from "#core/schema/in-app-messages/in-app-message.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { InAppCountsRow } from "#core/storage/in-app-messages/counts.ts";
import type { InAppMessageRow } from "#core/storage/in-app-messages/in-app-messages.ts";

/** An in-app message as the REST interface shows it. */
export const inAppMessageView = (row: InAppMessageRow): InAppMessage =>
  showAs(InAppMessage, {
    ...row,
    id: row._id,
    managed: row.managed !== null && row.managed.policy === "Enforce",
  });

/** What was counted of an in-app message: a variant that the message has, or had, with all its numbers. */
export const countsView = ({ variants }: InAppMessageRow, counted: InAppCountsRow | null): InAppMessageCounts => {
  const ids = new Set([...variants.map(({ id }) => id), ...Object.keys(counted?.variants ?? {})]);
  return {
    variants: [...ids].map((variant_id) => {
      const of = counted?.variants[variant_id] ?? {};
      return {
        variant_id,
        impressions: of.impression ?? 0,
        page_impressions: of.page_impression ?? 0,
        clicks: of.clicked ?? 0,
        dismissals: of.dismissed ?? 0,
        first_impressions: of.first_impression ?? 0,
        first_clicks: of.first_clicked ?? 0,
      };
    }),
  };
};
