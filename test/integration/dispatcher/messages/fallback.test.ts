import { expect } from "chai";
import type { FallbackStep } from "#core/schema/messages/fallback.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { scheduledList } from "#core/storage/messages/scheduled-list.ts";
import { monthOf, type UsageRow, usageCollection } from "#core/storage/messages/usage.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { aPlan } from "../../../support/rows/fixtures.ts";
import { aMessage, anApp, aSubscription } from "../../../support/rows/work.ts";
import { usePipelines } from "../../../support/system/pipelines.ts";
import { aToken } from "../../../support/system/sending.ts";

const minuteMs = 60_000;

/** Every channel of these pipelines ends at one APNs: what is tested is who is sent to over which, and when. */
describe("a message with a fallback", () => {
  const { db, simulator, goAhead, aDispatcher, stored } = usePipelines("fallback", 50);
  const [first, second] = ["ios_push", "android_push"] as const;
  const step: FallbackStep = { channel: second, after_minutes: 10, if: "not_delivered" };

  before(() =>
    db()
      .collection<AppRow>(appCollection.name)
      .updateOne({ _id: anApp()._id }, { $set: { [`channels.${second}`]: { project_id: "p" } } }),
  );

  /** A person with so many addresses on the first channel, and one or none on the second. */
  const person = (name: string, addresses = 1, others = 1, token = aToken()): SubscriptionRow[] =>
    [first, second].flatMap((channel, i) =>
      Array.from({ length: i === 0 ? addresses : others }, (_, n) =>
        aSubscription({
          _id: `sub_${channel}_${n}_${name}`,
          user_id: `usr_${name}`,
          channel,
          token: i === 0 && n === 0 ? token : aToken(),
        }),
      ),
    );
  const messages = () => db().collection<MessageRow>(messageCollection.name);
  const written = async (id: string, people: SubscriptionRow[], change: Partial<MessageRow> = {}): Promise<string> => {
    await db().collection<SubscriptionRow>(subscriptionCollection.name).insertMany(people);
    const ids = people.filter(({ channel }) => channel === first).map(({ _id }) => _id);
    const options = { fallback: [step] };
    const now = new Date();
    const row = { target: { include_subscription_ids: ids }, channels: [first], options, fence: 0, created_at: now };
    const message = aMessage({ _id: `msg_${id}`, ...row, ...change });
    await messages().insertOne(message);
    return message._id;
  };
  const open = (id: string): Promise<ChunkRow[]> =>
    collectionOf<ChunkRow>(db(), chunkCollection).find({ message_id: id, status: "open" }).toArray();
  /** Runs all that is in the queue, and what that leads to. */
  const goOn = async (id: string, dispatcher = aDispatcher()): Promise<void> => {
    await dispatcher.plan(id, 1);
    for (let left = await open(id); left.length > 0; left = await open(id)) {
      for (const { _id } of left) await dispatcher.deliver(_id);
      await dispatcher.plan(id, 1);
    }
  };
  const becameOf = async (id: string): Promise<string[]> =>
    (await stored(id)).map((row) => `${row.subscription_id} ${row.suppression_reason ?? row.status}`).toSorted();
  const reported = (subscription_id: string, change: Partial<DeliveryRow>) =>
    db().collection<DeliveryRow>(deliveryCollection.name).updateOne({ subscription_id }, { $set: change });
  const after = (minutes: number): void => goAhead(minutes * minuteMs + 1_000);

  it("goes over the next channel to each person whom nothing reached in time, once, and ends with that", async () => {
    const people = [...person("ada", 3), ...person("ben"), ...person("cem", 2), ...person("dan", 1, 0)];
    const id = await written("plain", people);
    await goOn(id);
    expect((await messages().findOne({ _id: id }))?.status, "while it waits").to.equal("processing");
    expect((await becameOf("plain")).filter((row) => row.includes(second))).to.deep.equal([]);
    const app = { tenantId: aMessage().tenant_id, appId: anApp()._id };
    const place = { after: null, isDescending: false, limit: 10 };
    expect(await scheduledList(db()).page(app, { messageId: id }, place), "who waits").to.deep.equal([]);
    await reported("sub_ios_push_0_ben", { status: "delivered", delivered_at: new Date() });
    await reported("sub_ios_push_1_cem", { status: "opened", opened_at: new Date() });
    after(9);
    await goOn(id);
    expect(await stored("plain")).to.have.length(7);
    after(11);
    await goOn(id);
    const [row, ...more] = (await stored("plain")).filter(({ channel }) => channel === second);
    expect(more).to.deep.equal([]);
    expect(row).to.include({ user_id: "usr_ada", status: "sent" });
    const before = (await stored("plain")).find(({ _id }) => _id === row?.fallback_of);
    expect(before).to.include({ user_id: "usr_ada", channel: first });
    const ended = await messages().findOne({ _id: id });
    expect(ended?.status).to.equal("completed");
    expect(ended?.counts).to.include({ targeted: 8, sent: 8 });
    expect(Object.keys(ended?.fell_back ?? {})).to.deep.equal(["0"]);
  });

  it("of two steps takes the second where the first fails, and leaves who complained alone", async () => {
    const gone = "dead";
    simulator().script({ answers: [{ address_prefix: gone, status: 410, reason: "Unregistered" }] });
    const dead = (): string => gone + aToken().slice(gone.length);
    const last = aSubscription({ _id: "sub_web_eva", user_id: "usr_eva", channel: "web_push", token: aToken() });
    const [device, phone] = person("eva", 1, 1, dead());
    const people = [device, { ...phone, token: dead() }, last, ...person("fay"), ...person("gus")] as SubscriptionRow[]; // all are there
    await db()
      .collection<AppRow>(appCollection.name)
      .updateOne({ _id: anApp()._id }, { $set: { "channels.web_push": { subject: "mailto:a@example.com" } } });
    const fallback: FallbackStep[] = [
      { channel: second, after_minutes: 5, if: "failed" },
      { channel: "web_push", after_minutes: 5, if: "failed" },
    ];
    const id = await written("steps", people, { options: { fallback } });
    await goOn(id);
    await reported("sub_ios_push_0_fay", { status: "bounced", bounced_at: new Date(), sent_at: new Date() });
    await reported("sub_ios_push_0_gus", { status: "complained", complained_at: new Date() });
    after(6);
    await goOn(id);
    after(12);
    await goOn(id);
    expect(await becameOf("steps")).to.deep.equal([
      "sub_android_push_0_eva failed",
      "sub_android_push_0_fay sent",
      "sub_ios_push_0_eva failed",
      "sub_ios_push_0_fay bounced",
      "sub_ios_push_0_gus complained",
      "sub_web_eva sent",
    ]);
    const rows = new Map((await stored("steps")).map((row) => [row.subscription_id, row]));
    expect(rows.get("sub_web_eva")?.fallback_of).to.equal(rows.get("sub_android_push_0_eva")?._id);
    expect((await messages().findOne({ _id: id }))?.status).to.equal("completed");
  });

  it("sends to each once when looks of one person run side by side, and again after they were cut short", async () => {
    const people = Array.from({ length: 300 }, (_, n) => person(`many${n}`, 2)).flat();
    const id = await written("many", people);
    await goOn(id);
    after(11);
    await aDispatcher().plan(id, 1);
    const looks = await open(id);
    expect(looks).to.have.length(2);
    const unheard = aDispatcher("unheard", undefined, { publish: async () => false }); // each run is made again
    await Promise.all(looks.map(({ _id }, n) => (n === 0 ? unheard : aDispatcher("two")).deliver(_id)));
    await Promise.all((await open(id)).map(({ _id }, n) => aDispatcher(`three_${n}`).deliver(_id)));
    await goOn(id);
    const rows = (await stored("many")).filter(({ channel }) => channel === second);
    expect(rows).to.have.length(300);
    expect(new Set(rows.map(({ user_id: of }) => of)).size).to.equal(300);
    expect(rows.every(({ status, attempts }) => status === "sent" && attempts === 1)).to.equal(true);
    expect(simulator().log.counts()).to.include({ received: 900 });
    expect((await messages().findOne({ _id: id }))?.status).to.equal("completed");
  });

  it("reserves what it sends, and sends nothing where the plan has no room for it", async () => {
    const periods = [monthOf(new Date())];
    const { tenant_id, plan } = aMessage();
    const usage = db().collection<UsageRow>(usageCollection.name);
    const used = async () => (await usage.findOne({ tenant_id }))?.messages;
    await db()
      .collection<PlanRow>(planCollection.name)
      .insertOne(aPlan({ _id: plan, messages_per_month: 3 }));
    const sent = async (name: string): Promise<MessageRow | null> => {
      const id = await written(name, person(name), { reserved: { periods, count: 1 } });
      goAhead(0);
      await goOn(id);
      after(11);
      await goOn(id);
      return messages().findOne({ _id: id });
    };
    await usage.insertOne({
      _id: `${tenant_id}:${periods[0]}`,
      tenant_id,
      period: "p",
      messages: 2,
      created_at: new Date(),
    });
    expect(await sent("room")).to.deep.include({ reserved: { periods, count: 2 }, status: "completed" });
    expect(await used()).to.equal(3);
    expect(await sent("full")).to.deep.include({ reserved: { periods, count: 1 }, status: "completed" });
    expect(await used()).to.equal(3);
    expect(await becameOf("full")).to.deep.equal(["sub_android_push_0_full quota", "sub_ios_push_0_full sent"]);
  });
});
