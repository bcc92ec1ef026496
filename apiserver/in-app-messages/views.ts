import { InAppMessage } from "#core/schema/in-app-messages/in-app-message.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { InAppMessageRow } from "#core/storage/in-app-messages/in-app-messages.ts";

/** An in-app message as the REST interface shows it. */
export const inAppMessageView = (row: InAppMessageRow): InAppMessage =>
  showAs(InAppMessage, {
    ...row,
    id: row._id,
    managed: row.managed !== null && row.managed.policy === "Enforce",
  });
