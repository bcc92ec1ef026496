import { expect } from "chai";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { receiptApplier } from "../../../../dispatcher/callbacks/applier.ts";
import { deliveryIdOf } from "../../../../dispatcher/messages/delivery/delivery-row.ts";
import { suppressions } from "../../../../dispatcher/suppressions/open.ts";
import { testKeyRing } from "../../../support/rows/fixtures.ts";
import { usePipelines } from "../../../support/system/pipelines.ts";

const forNow = {
  kind: "failed",
  code: "RECIPIENT_UNREACHABLE",
  providerCode: "30003",
  reason: "away",
  isPassing: true,
} as const;

describe("a delivery that is sent again after its provider had taken it", () => {
  const { db, simulator, goAhead, aDispatcher, seeded, queued, stored } = usePipelines("resends", 50);
  const clock = { now: () => new Date() };
  let told: EventEnvelope[] = [];
  const events = {
    publish: async (_tenant: string, made: readonly EventEnvelope[]) => {
      told.push(...made);
      return true;
    },
  };
  beforeEach(() => {
    told = [];
  });

  const list = () => suppressions({ db: db(), secrets: keyRing(testKeyRing), clock, noteDoubted: () => undefined });
  const apply = (row: DeliveryRow, fact: Partial<Receipt>, isRepeated = false) => {
    const common = { deliveryId: row._id, providerId: row.provider_message_id ?? null, address: null, at: clock.now() };
    const receipts = [{ ...common, ...forNow, ...fact } as Receipt]; // sound: a fact is whole, or leaves what `forNow` has
    return receiptApplier({ db: db(), suppressions: list(), events, clock })([
      { tenantId: row.tenant_id, appId: row.app_id, receipts, isRepeated },
    ]);
  };
  const row = async (name: string): Promise<DeliveryRow> => (await stored(name))[0] ?? expect.fail("no delivery");
  const chunksOf = (name: string) =>
    collectionOf<ChunkRow>(db(), chunkCollection)
      .find({ message_id: `msg_${name}`, resend_until: { $exists: true } })
      .sort({ created_at: 1 })
      .toArray();

  /** A push that was sent, of a message that has ended, and that a receipt says failed for now; the chunk of its resend. */
  const failedForNow = async (name: string): Promise<string> => {
    const ids = await seeded(name, 1);
    await aDispatcher().deliver(await queued(name, ids, {}));
    const until = new Date(Date.now() + 86_400_000);
    await collectionOf<DeliveryRow>(db(), deliveryCollection).updateOne(
      { message_id: `msg_${name}` },
      { $set: { resend_until: until } },
    );
    await db()
      .collection<{ _id: string }>("messages")
      .updateOne({ _id: `msg_${name}` }, { $set: { status: "completed" } });
    await apply(await row(name), {});
    const [chunk] = await chunksOf(name);
    return chunk?._id ?? expect.fail("no chunk");
  };
  /** Runs a chunk again, as a kill leaves it that comes after its run, and before it has ended. */
  const runAgain = async (id: string, name: string): Promise<void> => {
    const kept = { status: "open" as const, lease: null, recipients: [`sub_${name}_0`] };
    await collectionOf<ChunkRow>(db(), chunkCollection).updateOne({ _id: id }, { $set: kept });
    await aDispatcher("two", undefined, events).deliver(id);
  };

  it("is sent once, also when its chunk is run again after a kill", async () => {
    const id = await failedForNow("once");
    const before = await row("once");
    expect(before).to.include({ status: "scheduled", attempts: 1 });
    await aDispatcher().deliver(id);
    const after = await row("once");
    expect(after).to.include({ status: "sent", attempts: 2 }).and.not.have.any.keys("scheduled_for", "error_code");
    expect([after._id, after.sent_at, after.position]).to.deep.equal([before._id, before.sent_at, before.position]);
    await runAgain(id, "once");
    expect(simulator().log.counts().accepted).to.equal(2);
    expect(await row("once")).to.deep.equal(after);
  });

  it("waits by one chunk, also when its callback is read again after a kill", async () => {
    await failedForNow("callback");
    const before = await row("callback");
    await collectionOf<ChunkRow>(db(), chunkCollection).deleteMany({ message_id: before.message_id }); // the kill came before it was kept
    await Promise.all([apply(before, {}, true), apply(before, {}, true)]);
    expect(await chunksOf("callback")).to.have.length(1);
    expect((await row("callback")).scheduled_for).to.deep.equal(before.scheduled_for);
    expect((await chunksOf("callback"))[0]?.due_at).to.deep.equal(before.scheduled_for);
  });

  it("is not sent by the chunk of an attempt before, when it waits anew", async () => {
    const first = await failedForNow("anew");
    await aDispatcher().deliver(first);
    await apply(await row("anew"), { providerId: null });
    expect(await chunksOf("anew")).to.have.length(2);
    await runAgain(first, "anew");
    expect(simulator().log.counts().accepted).to.equal(2);
    expect(await row("anew")).to.include({ status: "scheduled", attempts: 2 });
  });

  it("is not sent when it was delivered after all", async () => {
    const id = await failedForNow("late");
    await apply(await row("late"), { kind: "delivered" });
    await aDispatcher().deliver(id);
    expect(simulator().log.counts().accepted).to.equal(1);
    expect(await row("late")).to.include({ status: "delivered" });
  });

  it("waits for its provider's pause as any other, and keeps its time", async () => {
    const id = await failedForNow("pause");
    simulator().script({ answers: [{ address_prefix: "", status: 429, reason: "TooManyRequests" }] });
    await aDispatcher().deliver(id);
    const [, retry] = await chunksOf("pause");
    expect(retry).to.include({ attempt: 2, parent_id: id, status: "open" });
    expect(await row("pause")).to.include({ status: "scheduled", attempts: 1 });
    simulator().script({});
    await aDispatcher().deliver(retry?._id ?? "");
    expect(await row("pause")).to.include({ status: "sent", attempts: 3 });
  });

  const over: { it: string; name: string; end: (name: string) => Promise<unknown> }[] = [
    {
      it: "its recipient unsubscribed",
      name: "unsubscribed",
      end: async (name) => {
        const rows = db().collection<SubscriptionRow>(subscriptionCollection.name);
        await rows.updateOne({ _id: `sub_${name}_0` }, { $set: { status: "unsubscribed" } });
      },
    },
    {
      it: "its subscription is gone",
      name: "gone",
      end: (name) =>
        db()
          .collection<SubscriptionRow>(subscriptionCollection.name)
          .deleteOne({ _id: `sub_${name}_0` }),
    },
    { it: "its ttl is over", name: "over", end: async () => goAhead(2 * 86_400_000) },
  ];
  for (const { it: what, name, end } of over) {
    it(`is not sent when ${what}: it fails as its receipt said, and is told so, also after a kill`, async () => {
      const id = await failedForNow(name);
      expect(told).to.deep.equal([]);
      await end(name);
      await aDispatcher("one", undefined, events).deliver(id);
      expect(simulator().log.counts().accepted).to.equal(1);
      const failed = await row(name);
      expect(failed).to.include({ status: "failed", attempts: 1, provider_code: "30003" });
      expect(told.map(({ type }) => type)).to.deep.equal(["delivery.failed"]);
      const [first] = told;
      await runAgain(id, name);
      expect(new Set(told.map((event) => event.id))).to.deep.equal(new Set([first?.id]));
      expect(told).to.have.length(2);
      expect(failed._id).to.equal(deliveryIdOf(`msg_${name}`, `sub_${name}_0`));
    });
  }
});
