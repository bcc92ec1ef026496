import type { Db } from "mongodb";
import { dateOf } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import type { ExportFilters, MessageEvent } from "#core/schema/exports/export.ts";
import { type InAppEventRow, inAppEventCollection } from "#core/storage/in-app-messages/events.ts";
import { collectionOf, farAhead, longAgo, type OfApp } from "#core/storage/mongo/collection.ts";
import { changesOf } from "#core/storage/warehouse/changes.ts";
import type { MessageEventRow } from "./message-event-row.ts";

/** What of such an event its row shows. */
export const inAppMembers = [
  "message_id",
  "variant_id",
  "subscription_id",
  "user_id",
  "external_id",
  "channel",
  "type",
  "page_id",
  "click_id",
  "at",
] as const satisfies readonly (keyof InAppEventRow)[];

const kinds = {
  impression: "in_app_impression",
  page_impression: "in_app_impression",
  clicked: "in_app_clicked",
  dismissed: "in_app_dismissed",
} as const satisfies Record<InAppEventRow["type"], MessageEvent>;

/** What people did with in-app messages, which are in no campaign, in the order in which it happened. */
export async function* inAppPages(db: Db, of: OfApp, filters: ExportFilters): AsyncGenerator<MessageEventRow[]> {
  const { message_id: messageId, campaign_id: campaignId, channel } = filters;
  if (campaignId !== undefined) return;
  const [from, last] = [dateOf(filters.from) ?? longAgo, dateOf(filters.to)];
  const asked = {
    of,
    from,
    to: last === undefined ? farAhead : new Date(last.getTime() + 1), // it is included
    after: null,
    members: inAppMembers,
    by: "at" as const,
    narrowed: defined({ message_id: messageId, channel }),
  };
  const rows = collectionOf<InAppEventRow>(db, inAppEventCollection);
  for await (const page of changesOf(rows, asked)) yield page.map(inAppRow);
}

/** Such an event as a row: it has no delivery. */
export const inAppRow = (inApp: InAppEventRow): MessageEventRow => {
  const { message_id, variant_id, subscription_id, user_id, external_id, channel, type, at } = inApp;
  const shown = { message_id, variant_id, subscription_id, user_id, channel, created_at: at };
  const delivery = { ...shown, _id: "", ...(external_id !== null && { external_id }) };
  return { event: kinds[type], at, delivery, inApp };
};
