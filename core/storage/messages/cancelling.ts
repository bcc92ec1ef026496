import type { Collection, Document } from "mongodb";
import { sweepAfter } from "../work/due.ts";
import type { MessageRow } from "./message-row.ts";

/** What ends messages before they are sent. */
export const cancelling = (rows: Collection<MessageRow>) => ({
  /**
   * Cancels a message that nobody has begun; null when it is not queued or is being taken up. It is due once more,
   * after the sweep interval, when its outbox may have an event, or it has something to give back.
   */
  cancel: (tenantId: string, id: string, how: Cancelling): Promise<MessageRow | null> =>
    rows.findOneAndUpdate(
      { _id: id, tenant_id: tenantId, status: "queued", $or: [{ lease: null }, { "lease.until": { $lte: how.now } }] },
      cancellation(how),
      { returnDocument: "after" },
    ),

  /**
   * The same for one that is being sent by chunks, of which none has begun: those that are queued end without being sent.
   * Null when one has.
   */
  cancelCut: (
    { _id, tenant_id, throttle_per_minute: rate }: Pick<MessageRow, "_id" | "tenant_id" | "throttle_per_minute">,
    how: Cancelling,
  ): Promise<MessageRow | null> =>
    rows.findOneAndUpdate(
      { _id, tenant_id, status: "processing", dispatched_at: { $exists: false }, ...staysCut },
      rate === undefined ? cancellation(how) : withdrawal(how), // of a throttled one some have deliveries that wait
      { returnDocument: "after" },
    ),

  /** The same for one whose recipients are all due later: what of them waits is withdrawn by the dispatchers. */
  cancelScheduled: (tenantId: string, id: string, how: Cancelling): Promise<MessageRow | null> =>
    rows.findOneAndUpdate(
      { _id: id, tenant_id: tenantId, status: "processing", dispatched_at: { $exists: false }, ...isTimed },
      withdrawal(how),
      { returnDocument: "after" },
    ),

  /** The same for one that waits in its turn, of which nothing was handed to a provider. */
  cancelWaiting: (tenantId: string, id: string, how: Cancelling): Promise<MessageRow | null> =>
    rows.findOneAndUpdate({ _id: id, tenant_id: tenantId, status: "processing", waits: true }, cancellation(how), {
      returnDocument: "after",
    }),

  /**
   * Stops one that is being sent: no chunk of it begins any more. Whoever is sending a chunk, or all of it in one turn, goes
   * on to its end; its counters are made from its deliveries afterwards. Null for one that has ended, or that changes a live
   * activity.
   */
  cancelForced: ({ tenant_id, _id, reserved }: MessageRow, how: Cancelling): Promise<MessageRow | null> =>
    rows.findOneAndUpdate(
      { _id, tenant_id, status: "processing", live_activity: { $exists: false } },
      forcedCancellation(reserved, how),
      { returnDocument: "after" },
    ),
});

/** Another turn would cut it anew, and might send a smaller audience without chunks, unless it is planned or scanned. */
const staysCut = { $or: [{ planned: true }, { "target.all": true }] };

/** Its recipients are sorted before any is sent to, so that every chunk that is sent asks whether it may be. */
const isTimed = { "options.delayed_option": { $exists: true } };

/** When a message is cancelled, and by whom. */
export type Cancelling = { now: Date; by: MessageRow["requested_by"] };

const cancellation = ({ now, by }: Cancelling): Document[] => [
  {
    $set: {
      status: "cancelled",
      cancelled_by: by,
      completed_at: now,
      updated_at: now,
      lease: null,
      due_at: { $cond: [{ $and: [{ $eq: ["$outbox", []] }, { $eq: ["$reserved", null] }] }, null, sweepAfter(now)] },
      fence: { $add: ["$fence", 1] },
      unsettled: "$reserved.count", // absent, as that is, when nothing was reserved
      content: redacted,
    },
  },
];

/** With what waits of it, which the dispatchers withdraw. */
const withdrawal = (how: Cancelling): Document[] => [
  ...cancellation(how),
  { $set: { withdraws: true, due_at: how.now } },
];

/** Of a message that does not want it to be kept, nothing of what it says. */
const redacted = { $cond: [{ $eq: ["$options.redact_payload", true] }, { $literal: {} }, "$content"] };

const forcedCancellation = (reserved: MessageRow["reserved"], { now, by }: Cancelling): Document[] => [
  {
    $set: {
      status: "cancelled",
      cancelled_by: { ...by, by_force: true },
      completed_at: now,
      updated_at: now,
      due_at: now,
      withdraws: true,
      recount: true,
      content: redacted,
      ...(reserved !== null && { unsettled: { $subtract: ["$reserved.count", { $ifNull: ["$counts.sent", 0] }] } }),
    },
  },
];
