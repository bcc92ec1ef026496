import { expect } from "chai";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { Unavailable } from "#core/errors.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { Counts } from "#core/schema/messages/message.ts";
import { type DeliveryRow, deliveries, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { effects } from "#core/storage/messages/effects.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { receiptStore } from "#core/storage/messages/receipts.ts";
import { messageWork } from "#core/storage/messages/work.ts";
import { sessions } from "#core/storage/people/sessions.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { type SuppressionRow, suppressionCollection } from "#core/storage/suppressions/suppressions.ts";
import { receiptApplier } from "../../../../dispatcher/callbacks/applier.ts";
import { applyReceipts } from "../../../../dispatcher/callbacks/apply.ts";
import { recount } from "../../../../dispatcher/messages/recount.ts";
import { suppressions } from "../../../../dispatcher/suppressions/open.ts";
import { aReceipt, aSentMessage, facts, seedMails } from "../../../support/callbacks/deliveries.ts";
import { testKeyRing } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const ordersOf = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((one, i) => ordersOf(items.filter((_, other) => other !== i)).map((rest) => [one, ...rest]));

describe("receipts on their way into the store", () => {
  const db = testDatabase("receipts");
  const clock = { now: () => new Date() };
  let told: EventEnvelope[] = [];
  const events = {
    publish: async (_tenant: string, made: readonly EventEnvelope[]) => {
      told.push(...made);
      return true;
    },
  };
  beforeEach(() => void (told = []));

  /** A dispatcher as far as receipts go. */
  const aDispatcher = () => {
    const list = suppressions({ db: db(), secrets: keyRing(testKeyRing), clock, noteDoubted: () => undefined });
    const apply = receiptApplier({ db: db(), suppressions: list, events, clock });
    return async (receipts: readonly Receipt[], { isRepeated = false, appId = of.app_id } = {}) =>
      (await apply([{ tenantId: of.tenant_id, appId, receipts, isRepeated }])).flat();
  };
  const deliveryOf = async (id: string) => (await receiptStore(db()).find([id]))[0];
  const messageOf = (id: string) => db().collection<MessageRow>(messageCollection.name).findOne({ _id: id });
  const countsOf = async (id: string): Promise<Counts> => (await messageOf(id))?.counts ?? {};
  const subscriptionOf = (id: string) =>
    db().collection<SubscriptionRow>(subscriptionCollection.name).findOne({ _id: id });
  const entryOf = (address: string) => db().collection<SuppressionRow>(suppressionCollection.name).findOne({ address });
  const kinds = () => told.map(({ type }) => type);

  it("come to the same in all 24 orders, by several dispatchers at once, and are counted once", async () => {
    const orders = ordersOf([facts.sent, facts.delivered, facts.opened, facts.clicked]);
    const { messageId, mails } = await seedMails(db(), of, orders.length);
    const dispatchers = [aDispatcher(), aDispatcher(), aDispatcher()];
    const inOrder = orders.map(async (order, n) => {
      const { delivery } = mails[n] as (typeof mails)[number]; // one for each order
      const receipts = order.map((fact) => aReceipt(delivery, fact, Object.values(facts).indexOf(fact)));
      for (const [i, receipt] of receipts.entries()) await dispatchers[(n + i) % 3]?.([receipt]);
    });
    await Promise.all(inOrder);
    const rows = await receiptStore(db()).find(mails.map(({ delivery }) => delivery._id));
    for (const row of rows) {
      const { status, delivered_at, opened_at, clicked_at, clicked_url } = row;
      expect({ status, delivered_at, opened_at, clicked_at, clicked_url }).to.deep.equal({
        status: "clicked",
        delivered_at: aReceipt(row, facts.delivered, 1).at,
        opened_at: aReceipt(row, facts.opened, 2).at,
        clicked_at: aReceipt(row, facts.clicked, 3).at,
        clicked_url: "https://shop.example/",
      });
    }
    expect(await countsOf(messageId)).to.include({ sent: 24, delivered: 24, opened: 24, clicked: 24, failed: 0 });
    const ids = told.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(24 * 3);
  });

  it("of one delivery that come to several dispatchers at once lose nothing", async () => {
    const { messageId, mails } = await seedMails(db(), of, 5);
    const dispatchers = Array.from({ length: 4 }, aDispatcher);
    const each = [facts.delivered, facts.opened, facts.clicked, facts.complained];
    const apply = async (n: number, receipts: readonly Receipt[], isRepeated = false): Promise<unknown> => {
      const isLost = (error: unknown) => error instanceof Unavailable; // then the queue hands them out again
      const applied = dispatchers[n]?.(receipts, { isRepeated }).catch((error: unknown) => error);
      return isLost(await applied) ? apply(n, receipts, true) : applied;
    };
    await Promise.all(
      each.map((fact, n) =>
        apply(
          n,
          mails.map(({ delivery }) => aReceipt(delivery, fact, n)),
        ),
      ),
    );
    for (const { delivery } of mails) {
      const row = await deliveryOf(delivery._id);
      expect(row?.status).to.equal("complained");
      expect(row).to.include.keys("delivered_at", "opened_at", "clicked_at", "complained_at");
    }
    const message = await messageOf(messageId);
    const right = { delivered: 5, opened: 5, clicked: 5, complained: 5 };
    if (message?.recount !== true) expect(message?.counts).to.include(right);
    await recountNow(messageId);
    expect(await countsOf(messageId)).to.include(right);
  });

  /** Has the counters made anew, an hour later, if they may be wrong. */
  const recountNow = async (id: string): Promise<void> => {
    const message = await messageOf(id);
    const stores = { deliveries: deliveries(db()), effects: effects(db()), messages: messageWork(db()) };
    const inAnHour = { now: () => new Date(Date.now() + 3_600_000) };
    if (message?.recount === true) await recount({ ...stores, clock: inAnHour })(message);
  };

  it("that come again change nothing, and are told under the same ids", async () => {
    const { messageId, mails } = await seedMails(db(), of, 3);
    const receipts = mails.flatMap(({ delivery }) => [
      aReceipt(delivery, facts.delivered, 1),
      aReceipt(delivery, facts.clicked, 2),
    ]);
    await aDispatcher()(receipts);
    const [rows, first] = [await receiptStore(db()).find(mails.map((one) => one.delivery._id)), [...told]];
    await aDispatcher()(receipts);
    expect(await receiptStore(db()).find(mails.map((one) => one.delivery._id))).to.deep.equal(rows);
    expect(new Set(told.map(({ id }) => id))).to.deep.equal(new Set(first.map(({ id }) => id)));
    expect(await countsOf(messageId)).to.include({ delivered: 3, clicked: 3, opened: 3 });
    for (const { type, data } of told) parser(eventTypes[type].data)(data);
  });

  it("of a message with variants count for these in the same write", async () => {
    const { messageId, mails } = await seedMails(db(), of, 3);
    const rows = db().collection<DeliveryRow>(deliveryCollection.name);
    for (const [n, { delivery }] of mails.entries())
      await rows.updateOne({ _id: delivery._id }, { $set: { variant_id: n === 0 ? "a" : "b" } });
    await aDispatcher()(mails.map(({ delivery }) => aReceipt(delivery, facts.clicked, 1)));
    const { counts, variant_counts: { a, b } = {}, recount: isUnsure } = (await messageOf(messageId)) ?? {};
    expect([counts?.clicked, a?.clicked, b?.clicked, isUnsure]).to.deep.equal([3, 1, 2, undefined]);
  });

  it("that a kill left half done are counted all the same", async () => {
    const { messageId, mails } = await seedMails(db(), of, 4);
    const receipts = mails.map(({ delivery }) => aReceipt(delivery, facts.delivered, 1));
    const halfDone = applyReceipts({
      ...suppressions({ db: db(), secrets: keyRing(testKeyRing), clock, noteDoubted: () => undefined }),
      receipts: {
        ...receiptStore(db()),
        count: async () => {
          throw new Error("killed");
        },
      },
      closeSessions: sessions(db()).close,
      repliesFailed: async () => [],
      resend: async () => undefined,
      events,
      clock,
    });
    const report = { tenantId: of.tenant_id, appId: of.app_id, receipts, isRepeated: false };
    expect(await halfDone([report]).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(await countsOf(messageId)).to.include({ delivered: 0 });
    await aDispatcher()(receipts, { isRepeated: true });
    expect(kinds()).to.deep.equal(receipts.map(() => "delivery.delivered"));
    await recountNow(messageId);
    expect(await messageOf(messageId)).to.deep.include({ due_at: null });
    expect(await countsOf(messageId)).to.include({ targeted: 4, sent: 4, delivered: 4 });
    expect(await messageOf(messageId)).to.not.have.property("recount");
  });

  it("that move just after the counters were made have them made once more", async () => {
    const { messageId, mails } = await seedMails(db(), of, 1);
    const rows = db().collection<MessageRow>(messageCollection.name);
    await rows.updateOne({ _id: messageId }, { $set: { counted_at: new Date() } });
    await aDispatcher()(mails.map(({ delivery }) => aReceipt(delivery, facts.delivered, 1)));
    expect(await messageOf(messageId)).to.include({ recount: true });
    await rows.updateOne({ _id: messageId }, { $set: { "counts.delivered": 7 } }); // as if it had been counted twice
    await recountNow(messageId);
    expect(await countsOf(messageId)).to.include({ delivered: 1 });
  });

  it("of a message that is being sent are in its counters when it ends", async () => {
    const { messageId, mails } = await seedMails(db(), of, 3);
    const rows = db().collection<MessageRow>(messageCollection.name);
    await rows.replaceOne({ _id: messageId }, { ...aSentMessage(of, messageId, 0), status: "processing" });
    await aDispatcher()([
      aReceipt(mails[0]?.delivery ?? { _id: "" }, facts.clicked, 1),
      aReceipt(mails[1]?.delivery ?? { _id: "" }, facts.hardBounce, 2),
    ]);
    expect(await countsOf(messageId)).to.include({ delivered: 1, opened: 1, clicked: 1, bounced: 1 });
    expect(await messageOf(messageId)).to.include({ recount: true });
    const groups = await deliveries(db()).tally(messageId);
    const sum = (key: "sent" | "delivered" | "clicked" | "bounced") =>
      groups.reduce((all, { reported }) => all + (reported[key] ?? 0), 0);
    expect([sum("sent"), sum("delivered"), sum("clicked"), sum("bounced")]).to.deep.equal([3, 1, 1, 1]);
  });

  it("of deliveries that are not stored are given back, and the others are applied", async () => {
    const { mails } = await seedMails(db(), of, 1);
    const missing = aReceipt({ _id: "dlv_unknown" }, facts.delivered, 1);
    const nobodys: Receipt = { ...missing, deliveryId: null };
    const known = aReceipt(mails[0]?.delivery ?? { _id: "" }, facts.delivered, 1);
    expect(await aDispatcher()([missing, known, nobodys])).to.deep.equal([missing]);
    expect(await deliveryOf(known.deliveryId ?? "")).to.include({ status: "delivered" });
  });

  it("of another app change nothing", async () => {
    const { mails } = await seedMails(db(), of, 1);
    const receipt = aReceipt(mails[0]?.delivery ?? { _id: "" }, facts.complained, 1);
    expect(await aDispatcher()([receipt], { appId: "app_2" })).to.deep.equal([receipt]);
    expect(await deliveryOf(receipt.deliveryId ?? "")).to.include({ status: "sent" });
    expect(told).to.deep.equal([]);
  });

  const endings = [
    { fact: facts.hardBounce, reason: "hard_bounce", source: "provider", status: "invalid", event: "delivery.bounced" },
    {
      fact: facts.complained,
      reason: "complaint",
      source: "provider",
      status: "unsubscribed",
      event: "delivery.complained",
    },
    {
      fact: facts.unsubscribed,
      reason: "unsubscribe",
      source: "one_click",
      status: "unsubscribed",
      event: "delivery.unsubscribed",
    },
  ] as const;
  for (const { fact, reason, source, status, event } of endings) {
    it(`suppress the address, end the subscription and are told once: ${fact.kind}`, async () => {
      const { mails } = await seedMails(db(), of, 1);
      const [{ delivery, subscription }] = mails as [(typeof mails)[number]]; // one was seeded
      const late = new Date(Date.now() + 1_000);
      const receipt = { ...aReceipt(delivery, fact), at: late };
      for (let n = 0; n < 2; n++) await aDispatcher()([receipt]);
      expect(new Set(told.map(({ id }) => id)).size).to.equal(1);
      expect(kinds()).to.deep.equal([event, event]);
      expect(await entryOf(subscription.token)).to.deep.include({
        reason,
        source,
        channel: "email",
        user_id: subscription.user_id,
        delivery_id: delivery._id,
        message_id: delivery.message_id,
        categories: null,
      });
      const row = await subscriptionOf(subscription._id);
      expect(row).to.include({ status, status_reason: reason });
      expect(row?.outbox).to.have.length(1);
    });
  }

  it("leave the subscription as it is when categories alone are unwanted", async () => {
    const { mails } = await seedMails(db(), of, 1);
    const [{ delivery, subscription }] = mails as [(typeof mails)[number]]; // one was seeded
    await aDispatcher()([aReceipt(delivery, { ...facts.unsubscribed, categories: ["news"] })]);
    expect(await entryOf(subscription.token)).to.deep.include({ reason: "unsubscribe", categories: ["news"] });
    expect(await subscriptionOf(subscription._id)).to.include({ status: "subscribed" });
  });

  it("suppress nobody's new address", async () => {
    const { mails } = await seedMails(db(), of, 1);
    const [{ delivery, subscription }] = mails as [(typeof mails)[number]]; // one was seeded
    const rows = db().collection<SubscriptionRow>(subscriptionCollection.name);
    await rows.updateOne({ _id: subscription._id }, { $set: { token: "new@other.example" } });
    await aDispatcher()([{ ...aReceipt(delivery, facts.hardBounce), address: subscription.token }]);
    expect(await entryOf("new@other.example")).to.equal(null);
    expect(await entryOf(subscription.token)).to.include({ reason: "hard_bounce", user_id: null });
    expect(await subscriptionOf(subscription._id)).to.include({ status: "subscribed" });
  });

  it("suppress for a month after five soft bounces in two weeks without a mail that came through", async () => {
    const { mails } = await seedMails(db(), of, 1);
    const [{ delivery, subscription }] = mails as [(typeof mails)[number]]; // one was seeded
    const beganMs = Date.now() - 14 * 86_400_000 + 60_000;
    const bounce = (day: number) => ({
      ...aReceipt(delivery, facts.softBounce),
      at: new Date(beganMs + day * 86_400_000),
    });
    for (const day of [0, 1, 2, 3, 3]) await aDispatcher()([bounce(day)]); // four: one is told twice
    expect(await entryOf(subscription.token)).to.equal(null);
    await aDispatcher()([aReceipt(delivery, facts.delivered)]);
    for (const day of [4, 5, 6, 7]) await aDispatcher()([bounce(day)]);
    expect(await entryOf(subscription.token)).to.equal(null);
    await aDispatcher()([bounce(8)]);
    const entry = await entryOf(subscription.token);
    expect(entry).to.include({ reason: "soft_bounce", source: "provider" });
    expect((entry?.expires_at?.getTime() ?? 0) - Date.now()).to.be.closeTo(30 * 86_400_000, 60_000);
    expect(await subscriptionOf(subscription._id)).to.include({ status: "subscribed" });
  });
});
