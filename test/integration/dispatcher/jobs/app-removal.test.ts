import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { appRemoval } from "#core/storage/apps/removal.ts";
import { allCollections } from "#core/storage/collections.ts";
import { noFiles } from "#core/storage/files/store.ts";
import { type ChoiceRow, choiceCollection } from "#core/storage/messages/choices.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { UsageRow } from "#core/storage/messages/usage.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type RemovalRow, removalCollection, removals } from "#core/storage/work/removals.ts";
import { removalJob } from "../../../../dispatcher/jobs/removals.ts";
import { anApp as anAppRow, aSubscription, aUser, seed } from "../../../support/rows/fixtures.ts";
import { aChunk, aMessage } from "../../../support/rows/work.ts";
import { usePeopleSite } from "../../../support/system/people.ts";
import { until } from "../../../support/until.ts";

const minuteMs = 60_000;
/** The collections whose documents go with their app. */
const names = allCollections.filter(({ appRemoval }) => !("kept" in appRemoval)).map(({ name }) => name);

describe("the removal of an app", () => {
  const site = usePeopleSite();

  const counts = async (app: string): Promise<Record<string, number>> => {
    const of = async (name: string) => [name, await site.db.collection(name).countDocuments({ app_id: app })] as const;
    return Object.fromEntries(await Promise.all(names.map(of)));
  };
  const none = Object.fromEntries(names.map((name) => [name, 0]));
  const passed = (id: string, passes: number) => async (): Promise<boolean> => {
    const row = await collectionOf<RemovalRow>(site.db, removalCollection).findOne({ _id: id });
    return row?.lease === null && row.passes >= passes;
  };
  const isOver = (id: string) => async () =>
    (await collectionOf<RemovalRow>(site.db, removalCollection).countDocuments({ _id: id })) === 0;

  /** An app with people, messages with a chunk, a choice and two deliveries each, and something in every other collection. */
  const anApp = async ({ people = 3, messages = 3 } = {}) => {
    const app = `app_${randomUUID()}`;
    const of = { tenant_id: "ten_1", app_id: app };
    const made = Array.from({ length: people }, () => aUser(of));
    const devices = made.map(({ _id }) => aSubscription({ ...of, user_id: _id, token: randomUUID() }));
    await seed(site.db, { users: made, subscriptions: devices });
    const ids = Array.from({ length: messages }, () => `msg_${randomUUID()}`);
    const rows = ids.map((_id) => aMessage({ ...of, _id, due_at: null }));
    await site.db.collection<MessageRow>("messages").insertMany(rows);
    const chunks = ids.map((id) => aChunk({ ...of, _id: `chk_${id}`, message_id: id }));
    await site.db.collection<ChunkRow>("chunks").insertMany(chunks);
    const choices = ids.map((id) => ({ ...of, _id: `cho_${id}`, message_id: id }));
    await site.db.collection<Pick<ChoiceRow, "_id">>(choiceCollection.name).insertMany(choices);
    const deliveries = ids.flatMap((id) => [1, 2].map((n) => ({ ...of, _id: `dlv_${id}_${n}`, message_id: id })));
    await site.db.collection<Pick<DeliveryRow, "_id">>("deliveries").insertMany(deliveries);
    for (const [name, count] of Object.entries(await counts(app)))
      if (count === 0)
        await site.db.collection<{ _id: string }>(name).insertOne({ _id: `${app}/${randomUUID()}`, ...of });
    return { app, ids };
  };
  const begin = (app: string) =>
    removals(site.db).begin(appRemoval({ _id: app, tenant_id: "ten_1" }, site.clock.now()));

  it("takes its people, its messages and their deliveries with it, page by page, and touches no other app", async () => {
    const [gone, other] = [await anApp({ people: 1_050, messages: 520 }), await anApp()];
    const before = await counts(other.app);
    await begin(gone.app);
    await site.startDispatcher();
    await until(passed(gone.app, 1), 60_000);
    expect(await counts(gone.app)).to.deep.equal(none);
    expect(await counts(other.app)).to.deep.equal(before);
    expect(before).to.include({ users: 3, messages: 3, deliveries: 6, webhook_deliveries: 1 });
    expect(Object.values(before)).to.not.include(0);
    site.shift(2 * minuteMs);
    await until(passed(gone.app, 2));
    site.shift(62 * minuteMs);
    await until(isOver(gone.app));
  });

  it("gives back what its messages had reserved and did not use", async () => {
    const { app, ids } = await anApp({ messages: 4 });
    const tenant_id = "ten_1"; // as all messages here
    const rows = site.db.collection<UsageRow>("usage");
    await rows.insertOne({
      _id: `${tenant_id}:2026-03`,
      tenant_id,
      period: "2026-03",
      messages: 100,
      created_at: new Date(),
    });
    const reserved = { periods: ["2026-03"], count: 10 };
    const states = [
      { status: "queued", counts: {} },
      { status: "processing", counts: { sent: 4 } },
      { status: "completed", counts: { sent: 8 } }, // settled when it ended
      { status: "completed", counts: { sent: 7 }, unsettled: 3 }, // not yet
    ] as const;
    for (const [i, state] of states.entries())
      await site.db
        .collection<MessageRow>("messages")
        .updateOne({ _id: ids[i] ?? "" }, { $set: { ...state, reserved } });
    await begin(app);
    await site.startDispatcher();
    await until(passed(app, 1));
    expect(await rows.findOne({ _id: `${tenant_id}:2026-03` })).to.include({ messages: 100 - 10 - 6 - 3 });
  });

  it("gives others their turn when it takes long, and goes on where it was", async () => {
    const { app } = await anApp({ people: 10, messages: 1_600 });
    await begin(app);
    const [metrics, never] = [createMetrics("dispatcher"), new AbortController().signal];
    const log = createLog({ program: "dispatcher", level: "fatal" });
    const timing = timings.short;
    const deps = { timing, db: site.db, files: noFiles, holder: "h", clock: site.clock, log, metrics, stopping: never };
    const events = { publish: async () => true };
    const turn = (turnMs: number) => removalJob({ ...deps, events, turnMs }).run(app, deps, never);
    await turn(1);
    const left = await counts(app);
    expect(left["messages"]).to.be.above(0);
    expect(await collectionOf<RemovalRow>(site.db, removalCollection).findOne({ _id: app })).to.include({
      passes: 0,
      lease: null,
    });
    expect(
      (await collectionOf<RemovalRow>(site.db, removalCollection).findOne({ _id: app }))?.due_at?.getTime(),
    ).to.be.at.most(Date.now());
    await turn(60_000);
    expect(await counts(app)).to.deep.equal(none);
    expect(await passed(app, 1)()).to.equal(true);
  });

  it("waits for messages that are being sent, and takes them a minute later", async () => {
    const { app, ids } = await anApp();
    const lease = { holder: "another", until: new Date(Date.now() + 30_000) };
    const [ofMessage, ofChunk] = ids;
    await site.db.collection<MessageRow>("messages").updateOne({ _id: ofMessage ?? "" }, { $set: { lease } });
    await site.db.collection<ChunkRow>("chunks").updateOne({ message_id: ofChunk ?? "" }, { $set: { lease } });
    await begin(app);
    await site.startDispatcher();
    await until(passed(app, 1));
    expect(await counts(app)).to.deep.equal({ ...none, messages: 2, chunks: 2, choices: 2, deliveries: 4 });
    site.shift(2 * minuteMs);
    await until(passed(app, 2));
    expect(await counts(app)).to.deep.equal(none);
  });

  describe("whose document is still there", () => {
    const keep = (_id: string) =>
      site.db.collection<AppRow>(appCollection.name).insertOne(anAppRow({ _id, tenant_id: "ten_1" }));
    const asked = (id: string, after: Date) => async (): Promise<boolean> => {
      const row = await collectionOf<RemovalRow>(site.db, removalCollection).findOne({ _id: id });
      return row !== null && row.lease === null && (row.due_at ?? after) > after;
    };

    it("takes nothing until it is gone", async () => {
      const { app } = await anApp();
      const before = await counts(app);
      await keep(app);
      await begin(app);
      await site.startDispatcher();
      await until(asked(app, new Date(Date.now() + 5_000)));
      expect(await counts(app)).to.deep.equal(before);
      await site.db.collection<AppRow>(appCollection.name).deleteOne({ _id: app });
      site.shift(minuteMs);
      await until(passed(app, 1));
      expect(await counts(app)).to.deep.equal(none);
    });

    it("ends an hour later with everything in place, for the app was kept", async () => {
      const { app } = await anApp();
      const before = await counts(app);
      await keep(app);
      await begin(app);
      await site.startDispatcher();
      await until(asked(app, new Date(Date.now() + 5_000)));
      site.shift(61 * minuteMs);
      await until(isOver(app));
      expect(await counts(app)).to.deep.equal(before);
    });

    it("counts its hour from the last time that somebody asked for it", async () => {
      const { app } = await anApp();
      const before = await counts(app);
      await keep(app);
      await begin(app);
      site.shift(59 * minuteMs);
      await begin(app);
      site.shift(62 * minuteMs);
      await site.startDispatcher();
      await until(asked(app, site.clock.now()));
      expect(await counts(app)).to.deep.equal(before);
    });
  });
});
