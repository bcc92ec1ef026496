import type { Db, Filter } from "mongodb";
import { timeOf } from "../../domain/clock.ts";
import type { Delivery, DeliveryListQuery } from "../../schema/messages/delivery.ts";
import type { SendableChannel } from "../../schema/vocabulary/channels.ts";
import { collectionOf } from "../mongo/collection.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";

export type DeliveryList = ReturnType<typeof deliveryList>;

/** Reads the deliveries of a message in the order in which they were written. */
export const deliveryList = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  return {
    page: (
      { tenantId, messageId, filters }: { tenantId: string; messageId: string; filters: DeliveryListQuery },
      page: PagePlace & { limit: number },
      signal: AbortSignal,
    ): Promise<DeliveryRow[]> =>
      rows
        .find({ message_id: messageId, tenant_id: tenantId, ...conditions(filters, page) }, { signal })
        .sort({ position: page.isDescending ? -1 : 1 })
        .limit(page.limit)
        .toArray(),
  };
};

const conditions = (query: DeliveryListQuery, place: PagePlace): Filter<DeliveryRow> => {
  const { status, channel, subscription_id, user_id, external_id, error_code, suppression_reason, from, to } = query;
  return {
    position: pageRange(null, { from: dateOf(from), to: dateOf(to) }, place), // made at the instant of its position
    ...(query.variant_id !== undefined && { _id: { $in: [] } }), // no delivery has a variant yet
    ...(status !== undefined && { status }),
    ...(channel !== undefined && { channel: channel as SendableChannel }), // another channel has no deliveries
    ...(subscription_id !== undefined && { subscription_id }),
    ...(user_id !== undefined && { user_id }),
    ...(external_id !== undefined && { external_id }),
    ...(error_code !== undefined && { error_code }),
    ...(suppression_reason !== undefined && { suppression_reason }),
    ...(query.uncertain !== undefined && { uncertain: query.uncertain ? true : { $ne: true as const } }),
  };
};

const dateOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));

/** A delivery as the REST interface shows it: every member, always. */
export const deliveryView = (row: DeliveryRow): Delivery => ({
  id: row._id,
  message_id: row.message_id,
  app_id: row.app_id,
  campaign_id: null,
  variant_id: null,
  activity_id: null,
  subscription_id: row.subscription_id,
  user_id: row.user_id,
  external_id: row.external_id ?? null,
  channel: row.channel,
  address_masked: row.address_masked,
  status: row.status,
  error_code: row.error_code ?? null,
  error_message: row.error_message ?? null,
  provider_code: row.provider_code ?? null,
  suppression_reason: row.suppression_reason ?? null,
  provider: row.provider ?? null,
  provider_message_id: row.provider_message_id ?? null,
  attempts: row.attempts,
  uncertain: row.uncertain === true,
  sms_segments: null,
  scheduled_for: null,
  sent_at: timeOf(row.sent_at),
  delivered_at: null,
  opened_at: null,
  clicked_at: null,
  failed_at: timeOf(row.failed_at),
  bounced_at: null,
  complained_at: null,
  unsubscribed_at: null,
  converted_at: null,
  expired_at: timeOf(row.expired_at),
  clicked_url: null,
  clicked_button_id: null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
