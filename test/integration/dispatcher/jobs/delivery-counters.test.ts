import { expect } from "chai";
import type { Db } from "mongodb";
import { quarterMs } from "#core/domain/durations.ts";
import { newId } from "#core/domain/ids.ts";
import type { Receipt, ReceiptFact } from "#core/domain/messages/receipts.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { deliveryCounterCollection } from "#core/storage/analytics/delivery-counters.ts";
import {
  type DueQuarterRow,
  dueQuarterCollection,
  dueQuarters,
  quarterOf,
} from "#core/storage/analytics/due-quarters.ts";
import { appCollection } from "#core/storage/apps/apps.ts";
import { conversions } from "#core/storage/events/conversions.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { passedOver } from "#core/storage/messages/passed-over.ts";
import { receiptStore } from "#core/storage/messages/receipts.ts";
import { waitingDeliveries } from "#core/storage/messages/waiting.ts";
import { collectionOf, farAhead } from "#core/storage/mongo/collection.ts";
import { receiptApplier } from "../../../../dispatcher/callbacks/applier.ts";
import { suppressions } from "../../../../dispatcher/suppressions/open.ts";
import { keptCounters, plainCounters } from "../../../support/analytics/counters.ts";
import { countDueQuarters } from "../../../support/analytics/due-quarters.ts";
import { aMail, aReceipt, facts, seedMails } from "../../../support/callbacks/deliveries.ts";
import { seedTenant, testKeyRing } from "../../../support/rows/fixtures.ts";
import { aConversion } from "../../../support/rows/warehouse.ts";
import { lendDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";

type Of = { tenant_id: string; app_id: string };

const restedMs = 60_000; // a quarter rests 10 times as long as counting it took

describe("counters of deliveries", () => {
  let db: Db;
  let giveBack: () => Promise<void>;
  let of: Of;
  let aheadMs: number;

  before(async () => {
    ({ db, giveBack } = await lendDatabase((await testServers()).mongodbUrl));
  });
  beforeEach(async () => {
    const { app } = await seedTenant(db);
    of = { tenant_id: app.tenant_id, app_id: app._id };
    aheadMs = 0;
  });
  after(() => giveBack?.());

  const clock = { now: () => new Date(Date.now() + aheadMs) };
  const due = () => collectionOf<DueQuarterRow>(db, dueQuarterCollection);
  const rows = () => collectionOf<DeliveryRow>(db, deliveryCollection);
  const dues = () => due().find({ app_id: of.app_id }).toArray();

  /** Counts all quarters that are due until so long from now. */
  const runDue = async (ms = restedMs): Promise<void> => {
    aheadMs += ms;
    await countDueQuarters(db, clock, of.app_id);
  };

  const apply = (receipts: readonly Receipt[], { isRepeated = false, isKilled = false } = {}) => {
    const list = suppressions({ db, secrets: keyRing(testKeyRing), clock, noteDoubted: () => undefined });
    const events = { publish: async () => true };
    const report = { tenantId: of.tenant_id, appId: of.app_id, receipts, isRepeated };
    return receiptApplier({ db: isKilled ? cutDb() : db, suppressions: list, events, clock })([report]);
  };

  /** The same database, in which nobody can say that quarters are due: who does is killed then. */
  const cutDb = (): Db =>
    new Proxy(db, {
      get: (target, name) => {
        if (name !== "collection") return Reflect.get(target, name) as unknown;
        return (collection: string) => {
          if (collection !== dueQuarterCollection.name) return target.collection(collection);
          return { bulkWrite: async () => Promise.reject(new Error("killed")) };
        };
      },
    });

  const plain = () => plainCounters(db, of.app_id);
  const counted = () => keptCounters(db, of.app_id);

  const anyOf = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T; // sound: there are some

  it("are those of the deliveries after 60 batches of receipts, a third of whose appliers were killed before they said so", async () => {
    const { mails } = await seedMails(db, of, 40);
    const made = Date.now() - 5 * quarterMs;
    for (const [n, { delivery }] of mails.entries())
      await rows().updateOne({ _id: delivery._id }, { $set: { created_at: new Date(made + n * 90_000) } });
    const all = Object.values(facts);
    for (let n = 0; n < 60; n++) {
      const receipts = [0, 1, 2].map((second) => aReceipt(anyOf(mails).delivery, anyOf(all), second));
      if (n % 3 === 0) {
        const killed = await apply(receipts, { isKilled: true }).then(
          () => "nothing moved",
          (error: Error) => error.message,
        );
        expect(killed).to.be.oneOf(["killed", "nothing moved"]);
      }
      await apply(receipts, { isRepeated: n % 3 === 0 });
      if (n % 20 === 0) await runDue();
    }
    await runDue();
    expect(await dues()).to.not.have.length(0);
    const quartersOfReceipts = new Set((await dues()).map(({ quarter }) => quarter.toISOString()));
    const expected = Object.entries(await plain()).filter(([name]) => quartersOfReceipts.has(name));
    expect(await counted()).to.deep.equal(Object.fromEntries(expected));
    expect((await dues()).map(({ as_of: at }) => at.getTime())).to.satisfy((all: number[]) =>
      all.every((ms) => ms === farAhead.getTime()),
    );
  });

  it("count opens and clicks each time, and leave out those of a scanner that follows links", async () => {
    const { mails } = await seedMails(db, of, 2);
    const [read, scanned] = mails.map(({ delivery }) => delivery) as [DeliveryRow, DeliveryRow]; // sound: two were made
    const scan = (path: string): ReceiptFact => ({ ...facts.clicked, url: `https://shop.example/${path}` });
    await apply([
      ...[5, 9, 9].map((second) => aReceipt(read, facts.opened, second)),
      ...[90, 200].map((second) => aReceipt(read, facts.clicked, second)),
      aReceipt(scanned, facts.delivered, 1),
      aReceipt(scanned, scan("a"), 2),
      aReceipt(scanned, scan("b"), 3),
    ]);
    await runDue();
    expect(await counted()).to.deep.equal(await plain());
    const [counts] = Object.values(await counted());
    expect(counts).to.deep.include({ opened: 1, opens_total: 2, clicked: 1, clicks_total: 2, machine_clicks: 1 });
    const { clicks, status } = (await rows().findOne({ _id: scanned._id })) ?? scanned;
    expect([status, clicks?.map(({ machine }) => machine)]).to.deep.equal(["delivered", ["pace", "pace"]]);
  });

  it("add up what all conversions of a delivery come to, whose appliers are killed and whose receipts come twice", async () => {
    const { mails } = await seedMails(db, of, 3);
    const [bought, returned, plainOne] = mails.map(({ delivery }) => delivery) as [
      DeliveryRow,
      DeliveryRow,
      DeliveryRow,
    ]; // sound: three were made
    await rows().updateMany({ app_id: of.app_id }, { $set: { created_at: bought.created_at } }); // all in one quarter of an hour
    const store = (delivery: DeliveryRow, value: number) =>
      conversions(db).keep([{ ...aConversion(delivery, new Date()), value }]);
    const told = (delivery: DeliveryRow, second: number) => apply([aReceipt(delivery, facts.converted, second)]);
    await store(bought, 0.1);
    await store(returned, -20.5);
    const killed = apply([aReceipt(bought, facts.converted), aReceipt(returned, facts.converted)], { isKilled: true });
    expect(await killed.catch(({ message }: Error) => message)).to.equal("killed");
    await apply([aReceipt(bought, facts.converted), aReceipt(returned, facts.converted)], { isRepeated: true });
    await runDue();
    expect(Object.values(await counted())).to.deep.equal([
      { targeted: 3, sent: 3, converted: 2, conversion_value: -20_400_000 },
    ]);
    await store(bought, 0.2);
    await told(bought, 30); // a later one: nothing else of the delivery changes
    await told(bought, 30);
    await apply([aReceipt(plainOne, facts.opened)]);
    await runDue();
    expect(await counted()).to.deep.equal(await plain());
    expect(Object.values(await counted())[0]).to.include({ converted: 2, conversion_value: -20_200_000, opened: 1 });
    const read = await rows().findOne({ _id: bought._id });
    expect(read?.conversion_value).to.equal(300_000);
    await store(plainOne, 1e300);
    await told(plainOne, 40);
    expect((await rows().findOne({ _id: plainOne._id }))?.conversion_value).to.equal(1e21); // as much as one counts for at most
  });

  it("count again what changed while they were made, and are left alone once nothing changes", async () => {
    const { mails } = await seedMails(db, of, 1);
    const [{ delivery }] = mails as [(typeof mails)[number]];
    await apply([aReceipt(delivery, facts.delivered)]);
    await runDue();
    const [first] = await dues();
    await apply([aReceipt(delivery, facts.opened)]);
    const [second] = await dues();
    expect(second?.as_of.getTime()).to.be.below(farAhead.getTime());
    expect(await dueQuarters(db).countedUntil({ tenantId: of.tenant_id, appId: of.app_id }, wide)).to.deep.equal(
      second?.as_of,
    );
    await runDue();
    expect(await counted()).to.deep.equal(await plain());
    expect((await dues())[0]?.revision).to.equal((first?.revision ?? 0) + 1);
    await runDue(3_600_000);
    expect(await dues()).to.deep.equal([]);
    expect(await dueQuarters(db).countedUntil({ tenantId: of.tenant_id, appId: of.app_id }, wide)).to.equal(null);
    expect(Object.values(await counted())).to.have.length(1);
  });

  it("are made once in a while of a quarter that changes all the time", async () => {
    const { mails } = await seedMails(db, of, 1);
    const [{ delivery }] = mails as [(typeof mails)[number]];
    await apply([aReceipt(delivery, facts.delivered)]);
    await runDue();
    const [rested] = await dues();
    const before = await counted();
    await apply([aReceipt(delivery, facts.opened)]); // due within a second, whatever rests
    const early = { now: () => new Date((rested?.rests_until?.getTime() ?? 0) - 1) };
    await countDueQuarters(db, early, of.app_id);
    expect(await counted()).to.deep.equal(before);
    const [resting] = await dues();
    expect(resting?.due_at).to.deep.equal(rested?.rests_until);
    expect(resting?.as_of.getTime()).to.be.below(farAhead.getTime());
    await countDueQuarters(db, { now: () => rested?.rests_until ?? new Date() }, of.app_id);
    expect(await counted()).to.deep.equal(await plain());
  });

  const wide = { from: new Date(0), to: new Date("2100-01-01") };

  it("are the same, byte by byte, after a recount of what nothing was lost of, and are mended by one where something was", async () => {
    const { mails } = await seedMails(db, of, 8);
    const made = Date.now() - 40 * quarterMs;
    for (const [n, { delivery }] of mails.entries())
      await rows().updateOne({ _id: delivery._id }, { $set: { created_at: new Date(made + n * quarterMs) } });
    const all = Object.values(facts);
    await apply(mails.map(({ delivery }, n) => aReceipt(delivery, all[n % all.length] ?? facts.opened, 1)));
    const range = { from: new Date(quarterOf(new Date(made))), to: new Date(Date.now() + quarterMs) };
    const recount = async (): Promise<void> => {
      expect(await dueQuarters(db, clock).recount({ tenantId: of.tenant_id, appId: of.app_id }, range)).to.equal(8);
      await runDue();
    };
    const kept = () =>
      db
        .collection(deliveryCounterCollection.name)
        .find({ app_id: of.app_id }, { projection: { read: 0, revision: 0 }, sort: { _id: 1 } })
        .toArray();
    await recount();
    expect(await counted()).to.deep.equal(await plain());
    const before = await kept();
    await recount();
    expect(await kept()).to.deep.equal(before);
    await rows().updateOne({ _id: mails[5]?.delivery._id ?? "" }, { $set: { unsubscribed_at: new Date() } }); // nobody said so
    expect(await counted()).to.not.deep.equal(await plain());
    await recount();
    expect(await counted()).to.deep.equal(await plain());
  });

  it("follow deliveries that are cancelled, or replaced by others", async () => {
    const message_id = newId("message", new Date());
    const { sent_at: _sent, provider: _provider, ...unsent } = aMail(of, { message_id }).delivery;
    const created_at = new Date(); // of both, so that they are of one quarter of an hour
    const waiting = { ...unsent, status: "scheduled" as const, created_at };
    const [left, again] = [{ ...waiting, _id: newId("delivery", new Date()) }, newId("delivery", new Date())];
    const long = new Date(Date.now() - 2 * quarterMs);
    const over = {
      ...unsent,
      _id: again,
      created_at: long,
      status: "suppressed",
      suppression_reason: "duplicate_user",
    } as const;
    await rows().insertMany([left, over]);
    await dueQuarters(db, clock).touch([over]);
    await runDue();
    expect(Object.values(await counted())).to.deep.equal([{ targeted: 1, suppressed: 1 }]);
    await waitingDeliveries(db).cancel([left._id], new Date());
    const sent = { ...aMail(of, { message_id }).delivery, _id: again, created_at };
    await passedOver(db).replace([sent]);
    await dueQuarters(db, clock).touch([sent]);
    await runDue();
    expect(await counted()).to.deep.equal(await plain());
    expect(Object.values(await counted()).map(({ targeted }) => targeted)).to.deep.equal([2]);
  });

  it("stay when deliveries are gone after a day, and go with their app", async () => {
    const { mails } = await seedMails(db, of, 2);
    const ids = mails.map(({ delivery }) => delivery._id);
    await rows().updateMany({ _id: { $in: ids } }, { $set: { created_at: new Date(Date.now() - 2 * 86_400_000) } });
    const stored = await receiptStore(db).find(ids);
    await dueQuarters(db, clock).touch(stored);
    await runDue();
    await rows().deleteOne({ _id: { $in: ids } });
    await dueQuarters(db, clock).touch(stored);
    await runDue();
    expect(Object.values(await counted())).to.deep.equal([{ targeted: 2, sent: 2 }]);
    await db.collection<{ _id: string }>(appCollection.name).deleteOne({ _id: of.app_id });
    await dueQuarters(db, clock).touch(stored);
    await runDue();
    expect(await dues()).to.deep.equal([]);
  });
});
