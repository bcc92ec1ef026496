import type { Db } from "mongodb";
import { newId, ulid } from "#core/domain/ids.ts";
import type { Receipt, ReceiptFact } from "#core/domain/messages/receipts.ts";
import { zeroCounts } from "#core/schema/messages/message.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { aSubscription } from "../rows/fixtures.ts";
import { aMessage } from "../rows/work.ts";

export type OfApp = { tenant_id: string; app_id: string };

let made = 0;

/** A mail that was sent to somebody, with their subscription and its message, none of which is stored. */
export const aMail = (of: OfApp, over: Partial<DeliveryRow> = {}) => {
  const now = new Date();
  const n = made++;
  const subscription = aSubscription({ ...of, channel: "email", token: `p${n}@mail${process.pid}.example` });
  const delivery: DeliveryRow = {
    _id: newId("delivery", now),
    message_id: newId("message", now),
    ...of,
    subscription_id: subscription._id,
    user_id: subscription.user_id,
    channel: "email",
    address_masked: `p•••@mail${process.pid}.example`,
    status: "sent",
    position: ulid(now),
    provider: "smtp",
    attempts: 1,
    sent_at: now,
    created_at: now,
    updated_at: now,
    ...over,
  };
  return { subscription, delivery };
};

/** A message that has ended long ago, of these deliveries. */
export const aSentMessage = (of: OfApp, id: string, sent: number): MessageRow => {
  const endedAt = new Date(Date.now() - 3_600_000);
  return aMessage({
    ...of,
    _id: id,
    status: "completed",
    counts: { ...zeroCounts(), targeted: sent, sent },
    completed_at: endedAt,
    counted_at: endedAt,
    updated_at: endedAt,
  });
};

const mailsAtOnce = 10_000; // FerretDB takes 25,000 in a write

/** Stores mails of one message that has ended. */
export const seedMails = async (db: Db, of: OfApp, count: number) => {
  const messageId = newId("message", new Date());
  const mails = Array.from({ length: count }, () => aMail(of, { message_id: messageId }));
  await db.collection<MessageRow>(messageCollection.name).insertOne(aSentMessage(of, messageId, count));
  for (let n = 0; n < mails.length; n += mailsAtOnce) {
    const some = mails.slice(n, n + mailsAtOnce);
    await db.collection<DeliveryRow>(deliveryCollection.name).insertMany(some.map(({ delivery }) => delivery));
    await db.collection<SubscriptionRow>(subscriptionCollection.name).insertMany(some.map((one) => one.subscription));
  }
  return { messageId, mails };
};

/** A receipt of a mail, so many seconds after it was sent. */
export const aReceipt = ({ _id }: Pick<DeliveryRow, "_id">, fact: ReceiptFact, second = 0): Receipt => ({
  deliveryId: _id,
  providerId: null,
  address: null,
  at: new Date(Date.UTC(2026, 10, 22, 12, 0, second)),
  ...fact,
});

export const facts = {
  sent: { kind: "sent" },
  delivered: { kind: "delivered" },
  opened: { kind: "opened", machine: false, userAgent: null },
  clicked: { kind: "clicked", machine: false, url: "https://shop.example/", buttonId: null },
  hardBounce: { kind: "bounced", type: "hard", code: "HARD_BOUNCE", providerCode: "550 5.1.1", reason: "no mailbox" },
  softBounce: { kind: "bounced", type: "soft", code: "SOFT_BOUNCE", providerCode: "452", reason: "for now" },
  converted: { kind: "converted" },
  complained: { kind: "complained", source: "provider", reason: "abuse" },
  unsubscribed: { kind: "unsubscribed", source: "one_click", reason: null, categories: null },
} as const satisfies Record<string, ReceiptFact>;
