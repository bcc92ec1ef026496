import type { Db } from "mongodb";
import type { deliveryStatuses } from "../../schema/messages/delivery.ts";
import type { SendableChannel } from "../../schema/vocabulary/channels.ts";
import type { DeliveryErrorCode } from "../../schema/vocabulary/delivery-error-codes.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/**
 * What became of one recipient of one message: written once, with its outcome. `_id` follows from (message,
 * subscription), so a second write is a duplicate and changes nothing. Members without a value are left out of the
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
  /** The provider says that the address is gone since then: the subscription becomes invalid. */
  gone_since?: Date;
  /** A mail server refused the mail: for good, or for as long as it was tried. */
  bounce_type?: "hard" | "soft";
  suppression_reason?: string;
  provider?: string;
  provider_message_id?: string;
  /** The provider's answer was lost with its link: counted as sent, never repeated. */
  uncertain?: true;
  /** Calls of the provider. */
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
  owner: { kind: "message", member: "message_id" },
  appRemoval: { with: "messages" },
  erasure: { kept: "what was sent stays until its retention: by ids and a masked address" },
  retention: { with: "messages" },
};

/** Results stored in one write at most; also the bound of what one kill may repeat (docs/decisions/0002). */
export const deliveryBatch = 100;

/** Deliveries that ended alike. `uncertain`: how many of them the provider may not have taken. */
export type StatusCount = { status: DeliveryStatus; error_code: string | null; count: number; uncertain: number };

export const deliveries = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  return {
    rows,

    /** Stores outcomes; returns the ids that were there before, whose first outcome stands. */
    record: (made: readonly DeliveryRow[]): Promise<Set<string>> => insertMissing(rows, made),

    /** Deliveries that exist already, of those ids. */
    existing: (ids: readonly string[]): Promise<DeliveryRow[]> =>
      rows.find({ _id: { $in: [...ids] } }, { batchSize: ids.length + 1 }).toArray(),

    /** How many deliveries of a message ended how: its last counters are made from this. */
    tally: async (messageId: string): Promise<StatusCount[]> => {
      const groups = await rows
        .aggregate<{ _id: { status: DeliveryStatus; code: string | null }; count: number; uncertain: number }>([
          { $match: { message_id: messageId, position: anyPosition } },
          {
            $group: {
              _id: { status: "$status", code: { $ifNull: ["$error_code", null] } },
              count: { $sum: 1 },
              uncertain: { $sum: { $cond: [{ $eq: ["$uncertain", true] }, 1, 0] } },
            },
          },
        ])
        .toArray();
      return groups.map(({ _id, count, uncertain }) => ({
        status: _id.status,
        error_code: _id.code,
        count,
        uncertain,
      }));
    },
  };
};

/** Every ULID: a bound without which the planner may read all deliveries of all messages. */
export const anyPosition = { $gt: "", $lt: "~" };
