import type { Db, Filter } from "mongodb";
import { dateOf } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import type { ExportFilters } from "#core/schema/exports/export.ts";
import { deliveryPages, type OfCampaign } from "#core/storage/exports/pages.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { ExportSource } from "./type.ts";

/** `from` and `to` are of the instant at which a delivery was made. */
export const deliveries: ExportSource<OfCampaign> = {
  columns: [
    { name: "id", of: (row) => row._id },
    { name: "message_id", of: (row) => row.message_id },
    { name: "campaign_id", of: (row) => row.campaign_id },
    { name: "subscription_id", of: (row) => row.subscription_id },
    { name: "user_id", of: (row) => row.user_id },
    { name: "channel", of: (row) => row.channel },
    { name: "status", of: (row) => row.status },
    { name: "error_code", of: (row) => row.error_code },
    { name: "suppression_reason", of: (row) => row.suppression_reason },
    { name: "sent_at", of: (row) => row.sent_at },
    { name: "delivered_at", of: (row) => row.delivered_at },
    { name: "opened_at", of: (row) => row.opened_at },
    { name: "clicked_at", of: (row) => row.clicked_at },
    { name: "created_at", of: (row) => row.created_at },
  ],
  pages: (db, of, filters) => {
    const times = { from: dateOf(filters.from), to: dateOf(filters.to) };
    const filter = defined({ status: filters.status }) as Filter<DeliveryRow>; // sound: the request's status was checked
    const members = [
      "subscription_id",
      "user_id",
      "channel",
      "status",
      "error_code",
      "suppression_reason",
      "sent_at",
      "delivered_at",
      "opened_at",
      "clicked_at",
      "created_at",
    ] as const;
    return pagesOfCampaign(db, of, filters, { messageId: filters.message_id, times, filter, members });
  },
};

/** Deliveries with the campaigns of their messages, of one campaign where that is asked for. */
export const pagesOfCampaign = (
  db: Db,
  of: OfApp,
  { campaign_id: campaignId }: ExportFilters,
  reading: Omit<Parameters<typeof deliveryPages>[2], "campaignId">,
): AsyncIterable<OfCampaign[]> => deliveryPages(db, of, { ...reading, campaignId });
