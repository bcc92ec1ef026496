import type { Collection, Db, Document, Filter } from "mongodb";
import { derivedId } from "../../domain/ids.ts";
import type { Timed } from "../../domain/messages/optimized.ts";
import { type DeliveryStatus, evidence, type Progress, type Reported } from "../../domain/messages/progress.ts";
import type { Received } from "../../domain/messages/received.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, longAgo, type OfApp } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";
import { anyText } from "../mongo/page-range.ts";
import { inPages } from "../mongo/pages.ts";
import { changeIndex } from "../warehouse/change-index.ts";
import type { Tried } from "./chunks.ts";
import type { MessageRow, MessageSource } from "./message-row.ts";

/**
 * What became of one recipient of one message: written once, with its outcome, then changed by receipts alone. `_id`
 * follows from (message, subscription), so a second write is a duplicate and changes nothing. Members without a value are
 * left out of the document: it is the service's most numerous.
 */
export type DeliveryRow = Progress & {
  _id: string;
  message_id: string;
  tenant_id: string;
  app_id: string;
  subscription_id: string;
  /** Null once the person is erased. */
  user_id: string | null;
  external_id?: string;
  /** Of a message that has some. */
  variant_id?: string;
  /** Since when their conversions are compared with those of others: see core/storage/messages/effects.ts. */
  measured_at?: Date;
  /** The first of these. */
  followed_at?: Date;
  /** Of an optimised message: whether they are of the control. */
  timing?: Timed;
  /** Of a fallback: the delivery of the same person that it comes after. */
  fallback_of?: string;
  /** Of a message that is part of a campaign: its name. */
  campaign_id?: string;
  /** Of a reply: its conversation. */
  conversation_id?: string;
  /** What its message is, as far as counters tell it apart; absent: `api`, none and none. */
  source?: Exclude<MessageSource, "api">;
  template_id?: string;
  category?: string;
  labels?: string[];
  segment_ids?: string[];
  /** As callers name the live activity that it is of. */
  activity_id?: string;
  channel: Channel;
  /** Of a phone number: ISO 3166-1 alpha-2. */
  country?: string;
  /** Null once the person is erased. */
  address_masked: string | null;
  /** A ULID: the order of the list, unique and growing with the time of writing. */
  position: string;
  /** The provider says that the address is gone since then: the subscription becomes invalid. */
  gone_since?: Date;
  suppression_reason?: string;
  provider?: string;
  /** Messages that its text was sent in. */
  sms_segments?: number;
  /** Of a push that was sent with a collapse id: see `collapseKey`. */
  collapse_key?: string;
  attempts: number;
  /** Of one that was tried again: the tries before the last one. */
  tries?: Tried[];
  /** It was timed by the zone of the app, as that of the recipient is not known. */
  time_zone_source?: "app_default";
  expired_at?: Date;
  received?: Received;
  created_at: Date;
  /** Grows with every change. */
  updated_at: Date;
};

export const deliveryCollection: CollectionSpec = {
  name: "deliveries",
  indexes: [
    { key: { message_id: 1, position: 1 }, name: "list" },
    {
      key: { collapse_key: 1, message_id: 1 },
      name: "collapse",
      partialFilterExpression: { collapse_key: { $gt: "" } },
    },
    // what led somebody to a custom event: core/storage/messages/touches.ts
    { key: { user_id: 1, sent_at: 1 }, name: "sent_to", partialFilterExpression: { sent_at: { $gt: longAgo } } },
    {
      key: { user_id: 1, clicked_at: 1 },
      name: "clicked_by",
      partialFilterExpression: { clicked_at: { $gt: longAgo } },
    },
    // whose conversions are compared: core/storage/messages/effects.ts
    {
      key: { user_id: 1, measured_at: 1 },
      name: "measured",
      partialFilterExpression: { measured_at: { $gt: longAgo } },
    },
    { key: { app_id: 1, created_at: 1 }, name: "made" }, // for counters: docs/decisions/0171
    changeIndex, // for warehouse exports: docs/decisions/0126
  ],
  owner: { kind: "message", member: "message_id" },
  appRemoval: { with: "messages" },
  erasure: { with: "messages" },
  retention: { with: "messages" },
};

/** Whoever sends a message to a subscription twice finds the delivery of the first time. */
export const deliveryIdOf = (messageId: string, subscriptionId: string): string =>
  derivedId("delivery", messageId, subscriptionId);

/** Results stored in one write at most; also the bound of what one kill may repeat (docs/decisions/0002). */
export const deliveryBatch = 100;

/**
 * Deliveries that ended alike. `reported`: how many of them count as what, by their instants; `uncertain`: how many the
 * provider may not have taken; `segments`: the messages that their texts were sent in.
 */
export type StatusCount = {
  status: DeliveryStatus;
  variant_id?: string | null;
  timing?: Timed | null;
  error_code: string | null;
  count: number;
  reported: Partial<Record<Reported, number>>;
  uncertain: number;
  segments: number;
};

export const deliveries = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  return {
    /** Stores outcomes; returns the ids that were there before, whose first outcome stands. */
    record: (made: readonly DeliveryRow[]): Promise<Set<string>> => insertMissing(rows, made),

    /** Deliveries that exist already, of those ids. */
    existing: (ids: readonly string[]): Promise<DeliveryRow[]> =>
      rows.find({ _id: { $in: [...ids] } }, { batchSize: ids.length + 1 }).toArray(),

    /** What of a message was sent to these people, since it was made. */
    sentTo: (
      { _id, app_id, created_at }: Pick<MessageRow, "_id" | "app_id" | "created_at">,
      userIds: readonly string[],
    ): Promise<DeliveryRow[]> =>
      inPages([...new Set(userIds)], peopleAtOnce, (some) =>
        rows
          .find(
            { user_id: { $in: some }, sent_at: { $gte: created_at, $lt: longAhead }, app_id, message_id: _id },
            { hint: "sent_to" },
          )
          .toArray(),
      ),

    /** One of an app, by its id. */
    find: ({ tenantId, appId }: OfApp, id: string): Promise<DeliveryRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId }),

    /** All of a message to few; null when there are more than `most`. */
    ofSmall: async (messageId: string, most: number): Promise<DeliveryRow[] | null> => {
      const filter = { message_id: messageId, position: anyText }; // else the planner may read those of other messages
      const found = await rows
        .find(filter, { batchSize: most + 2 })
        .sort({ position: 1 })
        .limit(most + 1)
        .toArray();
      return found.length > most ? null : found;
    },

    /** How many deliveries of a message, of each variant, and of both parts of an optimised one, ended how: its counters are made from this. */
    tally: async (messageId: string, isOptimized = false): Promise<StatusCount[]> => {
      const of = { message_id: messageId, position: anyText };
      if (isOptimized) return groups(rows, of, reportedSums, { timing: { $ifNull: ["$timing", null] } });
      const all = await groups(rows, of, {});
      if (all.every(isPlain)) return all;
      const moved = await groups(rows, { ...of, status: { $nin: [...plainStatuses] } }, reportedSums);
      return [...all.filter(isPlain), ...moved];
    },
  };
};

const longAhead = new Date("9999-01-01");
const peopleAtOnce = 100; // in one $in, with which the store compares all that it finds

/** Deliveries that no receipt has moved are in one of these: what they count as follows from it. */
const plainStatuses = ["sent", "suppressed", "expired"] as const satisfies readonly DeliveryStatus[];
const isPlain = ({ status }: StatusCount): boolean => (plainStatuses as readonly string[]).includes(status);

const groups = async (
  rows: Collection<DeliveryRow>,
  filter: Filter<DeliveryRow>,
  sums: Document,
  more: Document = {},
): Promise<StatusCount[]> => {
  type Group = {
    _id: { status: DeliveryStatus; code: string | null; variant: string | null; timing?: Timed | null };
    count: number;
    uncertain: number;
    segments: number;
  };
  const isUncertain = { $cond: [{ $eq: ["$uncertain", true] }, 1, 0] };
  const by = {
    status: "$status",
    code: { $ifNull: ["$error_code", null] },
    variant: { $ifNull: ["$variant_id", null] },
    ...more,
  };
  const group = {
    _id: by,
    count: { $sum: 1 },
    uncertain: { $sum: isUncertain },
    segments: { $sum: "$sms_segments" },
    ...sums,
  };
  const found = await rows.aggregate<Group>([{ $match: filter }, { $group: group }]).toArray();
  return found.map(({ _id: { status, code, variant, timing = null }, count, uncertain, segments, ...sent }) => ({
    status,
    variant_id: variant,
    ...(timing !== null && { timing }),
    error_code: code,
    count,
    uncertain,
    segments,
    reported: status === "sent" ? { sent: count } : sent,
  }));
};

/** Sums that say how many deliveries count as what. */
const reportedSums: Document = Object.fromEntries(
  Object.entries(evidence).map(([key, members]) => [
    key,
    { $sum: { $cond: [{ $or: members.map((member) => ({ $gt: [`$${member}`, longAgo] })) }, 1, 0] } },
  ]),
);
