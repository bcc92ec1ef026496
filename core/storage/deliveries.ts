import type { SendableChannel } from "../domain/channels.ts";
import type { DeliveryErrorCode } from "../domain/outcome.ts";
import type { CollectionSpec } from "./collection.ts";

export const deliveryStatuses = [
  "queued",
  "scheduled",
  "sent",
  "delivered",
  "opened",
  "clicked",
  "failed",
  "errored",
  "bounced",
  "complained",
  "unsubscribed",
  "expired",
  "suppressed",
  "cancelled",
] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/**
 * What became of one recipient of one message: written once, with its outcome. `_id` follows from (message,
 * subscription), so a second write is a duplicate and changes nothing. Members that are null are left out of the
 * document: it is the service's most numerous.
 */
export type DeliveryRow = {
  _id: string;
  message_id: string;
  tenant_id: string;
  app_id: string;
  subscription_id: string;
  user_id: string;
  external_id?: string;
  channel: SendableChannel;
  address_masked: string;
  status: DeliveryStatus;
  /** A ULID: the order of the list, unique and growing with the time of writing. */
  position: string;
  error_code?: DeliveryErrorCode;
  error_message?: string;
  provider_code?: string;
  suppression_reason?: string;
  provider: string;
  provider_message_id?: string;
  /** The provider's answer was lost with its link: counted as sent, never repeated. */
  uncertain?: true;
  attempts: number;
  sent_at?: Date;
  failed_at?: Date;
  expired_at?: Date;
  created_at: Date;
  updated_at: Date;
};

export const deliveryCollection: CollectionSpec = {
  name: "deliveries",
  indexes: [{ key: { message_id: 1, position: 1 }, name: "list" }],
};
