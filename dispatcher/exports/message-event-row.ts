import type { Happened } from "#core/domain/exports/message-events.ts";
import type { ConversionRow } from "#core/storage/events/conversions.ts";
import type { OfCampaign } from "#core/storage/exports/pages.ts";
import type { InAppEventRow } from "#core/storage/in-app-messages/events.ts";

/**
 * What happened to a delivery, a custom event that counts for one, of which the delivery may be gone, or what somebody did with an
 * in-app message, which has none.
 */
export type MessageEventRow = Happened &
  (
    | { delivery: OfCampaign; conversion?: never; inApp?: never }
    | { delivery: ConvertedDelivery; conversion: ConversionRow; inApp?: never }
    | { delivery: ConvertedDelivery; conversion?: never; inApp: InAppEventRow }
  );

/** What columns of a conversion show of its delivery. */
type ConvertedDelivery = Pick<OfCampaign, "_id" | "external_id" | "campaign_id" | "variant_id"> & {
  [Member in "message_id" | "subscription_id" | "user_id" | "channel"]: OfCampaign[Member] | null;
} & { created_at?: Date };
