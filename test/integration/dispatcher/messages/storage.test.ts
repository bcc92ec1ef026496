import { expect } from "chai";
import { MongoClient } from "mongodb";
import { newId } from "#core/domain/ids.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { audience } from "#core/storage/messages/audience.ts";
import { type ChunkRow, chunkCollection, chunks } from "#core/storage/messages/chunks.ts";
import { type DeliveryRow, deliveries, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection, messages } from "#core/storage/messages/messages.ts";
import { retention } from "#core/storage/messages/retention.ts";
import { throttles } from "#core/storage/messages/throttles.ts";
import { messageWork } from "#core/storage/messages/work.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { removePages } from "#core/storage/work/removal-pages.ts";
import { deliveryIdOf, resultOf } from "../../../../dispatcher/messages/delivery/delivery-row.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { aChunk, aMessage, anAttempt, aSubscription, noon } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";

const lease = (holder: string, now = noon) => ({ holder, now, leaseMs: 30_000 });
const later = (ms: number) => new Date(noon.getTime() + ms);

const rowOf = (messageId: string, n = 0) => {
  const subscription = aSubscription({ _id: `sub_${n}` });
  const attempt = anAttempt({
    deliveryId: deliveryIdOf(messageId, subscription._id),
    chunk: aChunk({ message_id: messageId }),
    subscription,
  });
  const made = resultOf({ kind: "sent", providerId: null }, attempt);
  if (made.kind !== "final") throw new Error("a sent push is final");
  return made.row;
};

const rowsOf = (messageId: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => rowOf(messageId, from + n));

describe("what a dispatcher stores", () => {
  const db = testDatabase("dispatcher_storage");

  describe("throttles", () => {
    it("give 64 dispatchers that ask at once stretches of time that follow one another", async () => {
      const { reserve } = throttles(db());
      const app = { tenantId: "ten_1", appId: "app_1" };
      const ask = () => reserve(app, "msg_many", { now: noon, forMs: 500 });
      const begins = (await Promise.all(Array.from({ length: 64 }, ask))).sort((a, b) => a - b);
      expect(begins).to.deep.equal(Array.from({ length: 64 }, (_, n) => noon.getTime() + n * 500));
    });
  });

  describe("messages", () => {
    it("starts a queued message once, and gives its next turn to whoever comes first", async () => {
      const work = messageWork(db());
      await collectionOf<MessageRow>(db(), messageCollection).insertOne(
        aMessage({ _id: "msg_a", status: "queued", fence: 0, started_at: null }),
      );
      const [one, two] = await Promise.all([work.take("msg_a", lease("a")), work.take("msg_a", lease("b"))]);
      const taken = [one, two].filter((row) => row !== null);
      expect(taken).to.have.length(1);
      expect(taken[0]).to.deep.include({ status: "processing", fence: 1, started_at: noon });
    });

    it("lets another take over when the lease has run out, and shuts the first one out", async () => {
      const work = messageWork(db());
      await collectionOf<MessageRow>(db(), messageCollection).insertOne(aMessage({ _id: "msg_b", fence: 0 }));
      const first = await work.take("msg_b", lease("a"));
      const second = await work.take("msg_b", lease("b", later(30_001)));
      if (first === null || second === null) throw new Error("both leases were free");
      expect(await work.rest(first, noon, { planned: true })).to.equal(false);
      expect(await work.rest(second, noon, { planned: true })).to.equal(true);
    });

    it("does not start a message before its time", async () => {
      const work = messageWork(db());
      await collectionOf<MessageRow>(db(), messageCollection).insertOne(
        aMessage({ _id: "msg_c", status: "queued", scheduled_for: later(60_000) }),
      );
      expect(await work.take("msg_c", lease("a"))).to.equal(null);
      expect(await work.take("msg_c", lease("a", later(60_000)))).to.include({ status: "processing" });
    });

    it("does not touch a cancelled message", async () => {
      const work = messageWork(db());
      await collectionOf<MessageRow>(db(), messageCollection).insertOne(
        aMessage({ _id: "msg_d", status: "cancelled" }),
      );
      expect(await work.take("msg_d", lease("a"))).to.equal(null);
      expect(await work.needsTurn("msg_d", noon)).to.equal(false);
    });

    it("leaves one due that was cancelled by force during its turn, whenever that wanted to go on", async () => {
      const work = messageWork(db());
      const rows = collectionOf<MessageRow>(db(), messageCollection);
      await rows.insertOne(aMessage({ _id: "msg_e", fence: 0 }));
      const taken = (await work.take("msg_e", lease("a"))) ?? expect.fail("its lease was free");
      await messages(db()).cancelForced(taken, { now: later(1_000), by: { type: "system" } });
      expect(await work.rest(taken, later(3_600_000), { planned: true })).to.equal(false);
      expect(await work.defer(taken, later(3_600_000), { planned: true })).to.equal(false);
      expect(await rows.findOne({ _id: "msg_e" })).to.deep.include({ status: "cancelled", due_at: later(1_000) });
    });
  });

  describe("chunks", () => {
    it("keeps the chunk that is there when the same is made again", async () => {
      const kept = chunks(db());
      const chunk = aChunk({ _id: "chk_a", message_id: "msg_chunks", recipients: ["sub_1"] });
      await kept.keep([chunk]);
      await kept.keep([{ ...chunk, recipients: ["sub_2"] }]);
      expect(await collectionOf<ChunkRow>(db(), chunkCollection).findOne({ _id: "chk_a" })).to.deep.include({
        recipients: ["sub_1"],
      });
    });

    it("opens waiting chunks in order and counts the open ones, retries included", async () => {
      const kept = chunks(db());
      const of = (position: number, change = {}) =>
        aChunk({ _id: `chk_o${position}`, message_id: "msg_open", position, status: "waiting", ...change });
      await kept.keep([of(0), of(1), of(2)]);
      expect(await kept.isBegun("msg_open")).to.equal(false);
      const next = await kept.waiting("msg_open", 2);
      expect(next.map(({ position }) => position)).to.deep.equal([0, 1]);
      await kept.open(
        next.map(({ _id }) => _id),
        noon,
      );
      await kept.keep([of(9, { _id: "chk_retry", status: "open", attempt: 1, parent_id: "chk_o0" })]);
      expect(await kept.countOpen("msg_open", 10)).to.equal(3);
      expect(await kept.isBegun("msg_open")).to.equal(true);
      expect((await kept.last("msg_open"))?.position).to.equal(2);
      expect(await kept.recipientsOfRetries("chk_o0")).to.deep.equal(["sub_1"]);
    });

    it("remembers whom a retry took over when it has ended: its parent may yet be run again", async () => {
      const kept = chunks(db());
      const parent = aChunk({ _id: "chk_p", message_id: "msg_ended" });
      const retry = aChunk({ _id: "chk_r", message_id: "msg_ended", attempt: 1, parent_id: "chk_p" });
      await kept.keep([parent, retry]);
      for (const chunk of [parent, retry]) expect(await kept.end(chunk)).to.equal(true);
      expect(await kept.recipientsOfRetries("chk_p")).to.deep.equal(["sub_1"]);
      expect(await collectionOf<ChunkRow>(db(), chunkCollection).findOne({ _id: "chk_p" })).to.deep.include({
        status: "done",
        recipients: [],
      });
    });
  });

  describe("deliveries", () => {
    it("stores a batch and says which of it were there before", async () => {
      const kept = deliveries(db());
      expect((await kept.record(rowsOf("msg_dup", 0, 60))).size).to.equal(0);
      const known = await kept.record(rowsOf("msg_dup", 40, 100));
      expect(known.size).to.equal(20);
      const group = {
        status: "sent",
        variant_id: null,
        error_code: null,
        count: 100,
        reported: { sent: 100 },
        uncertain: 0,
        segments: 0,
      };
      expect(await kept.tally("msg_dup")).to.deep.equal([group]);
    });
  });

  describe("retention", () => {
    it("removes a plan's old messages with their deliveries, and nothing else", async () => {
      const old = { plan: "short", status: "completed" as const };
      await collectionOf<MessageRow>(db(), messageCollection).insertMany([
        aMessage({ ...old, _id: "msg_old", completed_at: noon }),
        aMessage({ ...old, _id: "msg_young", completed_at: later(60_000) }),
        aMessage({ ...old, _id: "msg_going", status: "processing", completed_at: null }),
        aMessage({ ...old, _id: "msg_long", plan: "long", completed_at: noon }),
      ]);
      await deliveries(db()).record([rowOf("msg_old"), rowOf("msg_young")]);
      expect(await retention(db()).removeOldest("short", later(1_000))).to.deep.equal({ removed: 1, isMore: false });
      const left = await collectionOf<MessageRow>(db(), messageCollection)
        .find({ plan: { $in: ["short", "long"] } })
        .toArray();
      expect(left.map(({ _id }) => _id).sort()).to.deep.equal(["msg_going", "msg_long", "msg_young"]);
      expect(await retention(db()).planNames()).to.include.members(["long", "short"]);
      expect(await deliveries(db()).tally("msg_old")).to.deep.equal([]);
      expect(await deliveries(db()).tally("msg_young")).to.have.length(1);
    });

    it("removes those of an app that keeps them for a shorter time, and no other app's", async () => {
      const { app: brief } = await seedTenant(db());
      const { app: other } = await seedTenant(db());
      await collectionOf<AppRow>(db(), appCollection).updateOne({ _id: brief._id }, { $set: { retention_days: 7 } });
      const { appsAfter, removeOldestOf } = retention(db());
      const { apps, last } = await appsAfter("");
      expect(apps).to.deep.equal([{ appId: brief._id, days: 7 }]);
      expect(await appsAfter(last ?? "")).to.deep.equal({ apps: [], last: null });
      const of = (app: AppRow, made: Date, ended: Date | null) =>
        aMessage({ _id: newId("message", made), app_id: app._id, plan: "endless", completed_at: ended });
      const gone = of(brief, noon, later(1_000));
      const kept = [of(brief, noon, later(9_000)), of(brief, noon, null), of(other, noon, later(1_000))];
      await collectionOf<MessageRow>(db(), messageCollection).insertMany([gone, ...kept]);
      await deliveries(db()).record([rowOf(gone._id)]);
      expect(await removeOldestOf(brief._id, later(5_000))).to.deep.equal({ removed: 1, isMore: false });
      const left = await collectionOf<MessageRow>(db(), messageCollection).find({ plan: "endless" }).toArray();
      expect(left.map(({ _id }) => _id)).to.have.members(kept.map(({ _id }) => _id));
      expect(await deliveries(db()).tally(gone._id)).to.deep.equal([]);
    });
  });

  describe("retention of a message with many deliveries", () => {
    it("removes a thousand in a command, and the message after the last", async () => {
      const ended = { plan: "many", status: "completed" as const, completed_at: noon };
      await collectionOf<MessageRow>(db(), messageCollection).insertMany([
        aMessage({ ...ended, _id: "msg_many" }),
        aMessage({ ...ended, _id: "msg_one" }),
      ]);
      for (let from = 0; from < 2_500; from += 500) await deliveries(db()).record(rowsOf("msg_many", from, from + 500));
      await deliveries(db()).record([rowOf("msg_one")]);
      const watched = await MongoClient.connect((await testServers()).mongodbUrl, { monitorCommands: true });
      const asked: number[] = [];
      watched.on("commandStarted", ({ commandName, command }) => {
        const { _id: ids } = (command as { deletes?: { q: { _id?: { $in: string[] } } }[] }).deletes?.[0]?.q ?? {};
        if (commandName === "delete") asked.push(ids?.$in.length ?? Number.POSITIVE_INFINITY);
      });
      expect(await retention(watched.db(db().databaseName)).removeOldest("many", noon)).to.deep.equal({
        removed: 2,
        isMore: false,
      });
      await watched.close();
      expect(asked).to.deep.equal([1_000, 1_000, 501, 2]);
      expect(await deliveries(db()).tally("msg_many")).to.deep.equal([]);
    });

    it("says that there is more, and keeps the message, when it has removed as many as it may at once", async () => {
      await deliveries(db()).record(rowsOf("msg_parts", 0, 900));
      await deliveries(db()).record(rowsOf("msg_parts", 900, 1_800));
      const of = { filter: { message_id: "msg_parts" }, hint: "list" };
      expect(await removePages(collectionOf<DeliveryRow>(db(), deliveryCollection), { ...of, pages: 1 })).to.equal(
        false,
      );
      expect(
        await collectionOf<DeliveryRow>(db(), deliveryCollection).countDocuments({ message_id: "msg_parts" }),
      ).to.equal(800);
      expect(await removePages(collectionOf<DeliveryRow>(db(), deliveryCollection), { ...of, pages: 1 })).to.equal(
        true,
      );
    });
  });

  describe("audience", () => {
    before(async () => {
      const many = Array.from({ length: 1_205 }, (_, n) =>
        aSubscription({
          _id: `sub_P${String(n).padStart(5, "0")}`,
          app_id: "app_p",
          token: `t${n}`,
          user_id: `usr_${n}`,
          test_device: n < 3,
        }),
      );
      await db()
        .collection("subscriptions")
        .insertMany(many as object[]);
      await db()
        .collection("users")
        .insertMany([
          { _id: "usr_7", app_id: "app_p", alias_keys: ["external_id:seven", "crm:7"] } as object,
          { _id: "usr_8", app_id: "app_other", alias_keys: ["external_id:seven"] } as object,
        ]);
    });

    const page = (after: string, testOnly = false) =>
      audience(db()).page({ appId: "app_p", channel: "ios_push", status: "subscribed", after, testOnly, limit: 500 });

    it("reads everyone once, page by page", async () => {
      const seen: string[] = [];
      for (let ids = await page(""); ids.length > 0; ids = await page(seen.at(-1) ?? "")) seen.push(...ids);
      expect(seen).to.have.length(1_205);
      expect(new Set(seen).size).to.equal(1_205);
    });

    it("reads test devices only when asked to", async () => {
      expect(await page("", true)).to.have.length(3);
    });

    it("reaches a subscription once however many selectors name it, and nobody of another app", async () => {
      const found = await audience(db()).resolve(
        {
          include_subscription_ids: ["sub_P00007", "sub_P00009"],
          include_external_ids: ["seven"],
          include_aliases: { crm: ["7"], user_id: ["usr_7", "usr_8"] },
        },
        { appId: "app_p", stretches: [{ channel: "ios_push", status: "subscribed" }], testOnly: false },
      );
      const ids = [...found].map(([channel, rows]) => [channel, rows.map(({ _id }) => _id)]);
      expect(ids).to.deep.equal([["ios_push", ["sub_P00007", "sub_P00008", "sub_P00009"]]]);
    });
  });
});
