import { expect } from "chai";
import type { Db } from "mongodb";
import { counterTables } from "#core/domain/analytics/tables.ts";
import { quarterMs } from "#core/domain/durations.ts";
import { newId } from "#core/domain/ids.ts";
import { type DeliveryCounterRow, deliveryCounterCollection } from "#core/storage/analytics/delivery-counters.ts";
import { type DueQuarterRow, dueQuarterCollection, dueQuarters } from "#core/storage/analytics/due-quarters.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { firstDay } from "../../../support/analytics/counters.ts";
import { countDueQuarters } from "../../../support/analytics/due-quarters.ts";
import { aMail } from "../../../support/callbacks/deliveries.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { aMessage } from "../../../support/rows/work.ts";
import { lendDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";

describe("tables of counters of deliveries", () => {
  let db: Db;
  let giveBack: () => Promise<void>;
  let of: { tenant_id: string; app_id: string };

  before(async () => {
    ({ db, giveBack } = await lendDatabase((await testServers()).mongodbUrl));
  });
  beforeEach(async () => {
    const { app } = await seedTenant(db);
    of = { tenant_id: app.tenant_id, app_id: app._id };
  });
  after(() => giveBack?.());

  const clock = { now: () => new Date() };
  const rows = () => collectionOf<DeliveryRow>(db, deliveryCollection);
  const dues = () => collectionOf<DueQuarterRow>(db, dueQuarterCollection).find({ app_id: of.app_id }).toArray();
  let runs = 0;
  const runDue = () => {
    const aheadMs = ++runs * 60_000; // a quarter that was counted rests
    return countDueQuarters(db, { now: () => new Date(Date.now() + aheadMs) }, of.app_id);
  };

  it("tell deliveries apart by what their message is, and name what failed and what was suppressed", async () => {
    const message_id = newId("message", new Date());
    const now = new Date();
    const one = (change: Partial<DeliveryRow>) => ({
      ...aMail(of, { message_id }).delivery,
      created_at: now,
      ...change,
    });
    const { sent_at: _sent, provider: _provider, ...unsent } = one({});
    const spring: Partial<DeliveryRow> = {
      source: "campaign",
      campaign_id: "spring",
      template_id: "tpl_1",
      category: "news",
      labels: ["vip", "spring"],
      segment_ids: ["seg_1"],
    };
    await rows().insertMany([
      one(spring),
      one({
        source: "campaign",
        campaign_id: "spring",
        template_id: "tpl_1",
        category: "news",
        machine_opened_at: now,
        machine_clicked_at: now,
      }),
      one({ status: "bounced", bounced_at: now, error_code: "HARD_BOUNCE" }),
      one({ status: "failed", failed_at: now, error_code: "LANDLINE", channel: "sms", country: "DE", ...spring }),
      { ...unsent, _id: newId("delivery", now), status: "suppressed", suppression_reason: "frequency_cap" },
      { ...unsent, _id: newId("delivery", now), status: "scheduled" },
    ]);
    await dueQuarters(db, clock).touch(await rows().find({ message_id }).toArray());
    await runDue();
    const { provider = null } = one({});
    expect(await firstDay(db, of.app_id, "cells")).to.have.deep.members([
      {
        of: ["email", "campaign", "tpl_1", "spring", "news", provider],
        counts: { targeted: 2, sent: 2, machine_opens: 1, machine_clicks: 1 },
      },
      { of: ["email", "api", null, null, null, provider], counts: { targeted: 1, sent: 1, bounced: 1 } },
      { of: ["email", "api", null, null, null, null], counts: { targeted: 1, suppressed: 1 } },
      { of: ["sms", "campaign", "tpl_1", "spring", "news", provider], counts: { targeted: 1, sent: 1, failed: 1 } },
    ]);
    const documents = db.collection(deliveryCounterCollection.name).find({ app_id: of.app_id, day: { $exists: true } });
    const tables = (await documents.toArray()).map(({ table }) => String(table));
    expect(tables).to.have.members(counterTables.filter((table) => table !== "messages" && table !== "times")); // one each, for any number of deliveries
    expect(await firstDay(db, of.app_id, "times")).to.deep.equal([]); // nothing arrived
    const campaign = ["campaign", "tpl_1", "spring", "news", provider];
    const [mail, text] = [
      { targeted: 1, sent: 1 },
      { targeted: 1, sent: 1, failed: 1 },
    ];
    const labelled = ["spring", "vip"].flatMap((name) => [
      { of: ["email", ...campaign, name], counts: mail },
      { of: ["sms", ...campaign, name], counts: text },
    ]);
    expect(await firstDay(db, of.app_id, "labels")).to.have.deep.members(labelled);
    expect(await firstDay(db, of.app_id, "segments")).to.have.deep.members([
      { of: ["email", ...campaign, "seg_1"], counts: mail },
      { of: ["sms", ...campaign, "seg_1"], counts: text },
    ]);
    const plainMail = ["email", "api", null, null, null];
    expect(await firstDay(db, of.app_id, "statuses")).to.have.deep.members([
      { of: ["email", ...campaign, "sent"], counts: { targeted: 2 } },
      { of: [...plainMail, provider, "bounced"], counts: { targeted: 1 } },
      { of: [...plainMail, null, "suppressed"], counts: { targeted: 1 } },
      { of: ["sms", ...campaign, "failed"], counts: { targeted: 1 } },
    ]);
    const plainOne = ["api", null, null, null, [], []];
    const ofSpring = ["campaign", "tpl_1", "spring", "news", ["vip", "spring"], ["seg_1"]];
    expect(await firstDay(db, of.app_id, "failures")).to.deep.equal([
      { of: ["email", provider, "HARD_BOUNCE", plainOne], counts: { count: 1 }, sample: { last_at: now, message_id } },
      { of: ["sms", provider, "LANDLINE", ofSpring], counts: { count: 1 }, sample: { last_at: now, message_id } },
    ]);
    expect(await firstDay(db, of.app_id, "countries")).to.deep.equal([
      { of: ["sms", "DE", ofSpring], counts: { count: 1 }, sample: { last_at: now, message_id } },
    ]);
    expect(await firstDay(db, of.app_id, "domains")).to.deep.equal([
      { of: [`mail${process.pid}.example`, plainOne], counts: { count: 1 }, sample: { last_at: now, message_id } },
    ]);
    expect(await firstDay(db, of.app_id, "suppressed")).to.deep.equal([
      { of: ["email", "frequency_cap", plainOne], counts: { count: 1 } },
    ]);
  });

  it("have how long deliveries took until they arrived, or of pushes until they were taken", async () => {
    const made = new Date(Date.now() - 3 * quarterMs);
    const after = (ms: number) => new Date(made.getTime() + ms);
    const one = (change: Partial<DeliveryRow>) => ({ ...aMail(of, {}).delivery, created_at: made, ...change });
    const all = [
      one({ sent_at: after(40), delivered_at: after(1_000) }),
      one({ sent_at: after(40), delivered_at: after(990) }),
      one({ sent_at: after(40), delivered_at: after(0) }),
      one({ sent_at: after(40), opened_at: after(9_000) }), // nobody knows when it arrived
      one({ channel: "ios_push", sent_at: after(500), delivered_at: after(60_000) }),
      one({ channel: "ios_push", sent_at: after(400 * 86_400_000) }),
    ];
    await rows().insertMany(all);
    await dueQuarters(db, clock).touch(all);
    await runDue();
    expect(await firstDay(db, of.app_id, "times")).to.have.deep.members([
      { of: ["email", 0], counts: { c0: 1 } },
      { of: ["email", 11], counts: { c0: 2 } }, // 1.04 to the power of 176 is 995
      { of: ["ios_push", 9], counts: { c14: 1 } },
      { of: ["ios_push", 37], counts: { c15: 1 } },
    ]);
    await rows().updateOne({ _id: all[3]?._id ?? "" }, { $set: { delivered_at: after(9_000) } });
    await dueQuarters(db, clock).touch(all);
    await runDue();
    const day = (table: "times" | "time_sums") =>
      collectionOf<DeliveryCounterRow>(db, deliveryCounterCollection).findOne({ app_id: of.app_id, table });
    const [times, ofTimes] = [await day("times"), await day("time_sums")];
    expect(times?.keys).to.have.length(5);
    expect([ofTimes?.keys, ofTimes?.sums, ofTimes?.revision]).to.deep.equal([
      times?.keys,
      times?.sums,
      times?.revision,
    ]);
  });

  it("have the messages of their quarter beside them, once the sending of these has begun", async () => {
    const at = new Date(Date.now() - 3 * quarterMs);
    const made = (change: Partial<MessageRow>) =>
      aMessage({ ...of, _id: newId("message", at), created_at: at, started_at: at, channels: ["email"], ...change });
    const messages = [
      made({ labels: ["vip"], segment_ids: ["seg_1"] }),
      made({ labels: ["vip"], segment_ids: ["seg_1"] }),
      made({ category: "news", channels: ["email", "sms"] }),
      made({ started_at: null }),
    ] as const;
    await db.collection<MessageRow>(messageCollection.name).insertMany([...messages]);
    await dueQuarters(db, clock).touchOf(messages[0], { sent: 5 });
    await runDue();
    const plainOne = ["api", null, null];
    expect(await firstDay(db, of.app_id, "messages")).to.have.deep.members([
      { of: [["email"], ...plainOne, null, ["vip"], ["seg_1"]], counts: { count: 2 } },
      { of: [["email", "sms"], ...plainOne, "news", [], []], counts: { count: 1 } },
    ]);
    const ended = { ...of, created_at: clock.now() };
    const atOnce = dueQuarters(db, { now: () => ended.created_at });
    await atOnce.touchOf(ended, { sent: 1 }); // its delivery has said so
    expect(await dues()).to.have.length(1);
    await atOnce.touchOf(ended, { sent: 0 });
    expect(await dues()).to.have.length(2);
  });
});
