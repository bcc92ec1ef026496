import { ownCallback, ownProvider } from "#core/channels/kit/own-receipts.ts";
import { settingOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import type { Receipt, ReceiptFact } from "#core/domain/messages/receipts.ts";
import type { CallbackQueue } from "#core/queue/callbacks.ts";
import type { DeviceReceipt, DeviceReceipts, ReceiptsAccepted } from "#core/schema/devices/reports.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { deliveryIdOf } from "#core/storage/messages/deliveries.ts";
import type { KnownDeliveries } from "#core/storage/messages/known.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";

export type ReceiptDeps = { known: KnownDeliveries; keep: CallbackQueue["keep"]; clock: Clock };

const daysBack = 30;

/**
 * Puts what a device says of its messages into the queue of receipts. The delivery follows from the message and the
 * subscription, so that a device can speak of its own only; what is about none is accepted and dropped, as whoever asks
 * is to learn nothing. @throws Unavailable
 */
export const receiveReceipts =
  ({ known, keep, clock }: ReceiptDeps) =>
  async (
    app: Pick<AppRow, "receipts_enabled">,
    own: SubscriptionRow,
    { receipts }: DeviceReceipts,
  ): Promise<ReceiptsAccepted> => {
    if (!settingOf(app, "receipts_enabled")) return { accepted: 0, duplicates: 0, errors: eachRefused(receipts) };
    const now = clock.now();
    const read = receipts.map((receipt) => receiptOf(own, receipt, now));
    const young = read.filter((receipt) => receipt !== null);
    const different = [...new Map(young.map((one) => [JSON.stringify([one.receipt, one.activityId]), one])).values()];
    const supposed = new Map(different.filter(({ isOwn }) => isOwn).map((one) => [one.deliveryId, one]));
    const there = await known(ofRow(own), [...supposed.values()]);
    const wanted = different.filter(
      ({ isOwn, deliveryId, activityId }) =>
        isOwn && there.has(deliveryId) && (activityId ?? there.get(deliveryId)) === there.get(deliveryId),
    );
    if (wanted.length > 0)
      await keep({ ...ofRow(own), provider: ownProvider }, ownCallback(wanted.map(receiptIn), now));
    const errors = [...read.keys()].filter((index) => read[index] === null).map((index) => ({ index, ...tooOld }));
    return { accepted: different.length, duplicates: young.length - different.length, errors };
  };

const eachRefused = (receipts: DeviceReceipts["receipts"]): ReceiptsAccepted["errors"] =>
  receipts.map((_, index) => ({ index, ...disabled }));

const disabled = { code: "RECEIPTS_DISABLED" as const, message: "the app's setting receipts_enabled is false" };

const tooOld = {
  code: "OCCURRED_AT_TOO_OLD" as const,
  message: `occurred_at is more than ${daysBack} days ago`,
};

type Read = { messageId: string; deliveryId: string; activityId: string | null; isOwn: boolean; receipt: Receipt };

const receiptIn = ({ receipt }: Read): Receipt => receipt;

/** Null for one that is too old. */
const receiptOf = (own: SubscriptionRow, given: DeviceReceipt, now: Date): Read | null => {
  const { message_id: messageId, delivery_id: named, activity_id: activityId = null } = given;
  const at = notAhead(given.occurred_at, now);
  if (isTooOld(at, now)) return null;
  const deliveryId = deliveryIdOf(messageId, own._id);
  const receipt: Receipt = { deliveryId, providerId: null, address: null, at, ...factOf(given, at) };
  return { messageId, deliveryId, activityId, isOwn: (named ?? deliveryId) === deliveryId, receipt };
};

/** What is told so late is told no more. */
export const isTooOld = (at: Date, now: Date): boolean => now.getTime() - at.getTime() > daysBack * dayMs;

/** Clocks of devices are wrong: what is ahead counts as now. */
export const notAhead = (occurredAt: string, now: Date): Date => {
  const at = new Date(occurredAt);
  return at > now ? now : at;
};

const factOf = (
  { type, url = null, button_id: buttonId = null, occurred_at: said }: DeviceReceipt,
  at: Date,
): ReceiptFact => {
  const ahead = new Date(said) > at ? { said } : {};
  switch (type) {
    case "received":
      return { kind: "delivered" };
    case "opened":
      return { kind: "opened", machine: false, userAgent: null, ...ahead };
    case "clicked":
      return { kind: "clicked", machine: false, url, buttonId, ...ahead };
    case "dismissed":
      return { kind: "dismissed" };
  }
};
