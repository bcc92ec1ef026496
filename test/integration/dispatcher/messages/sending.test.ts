import { expect } from "chai";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { aChunk, aMessage, aSubscription } from "../../../support/rows/work.ts";
import { usePipelines } from "../../../support/system/pipelines.ts";
import { aToken } from "../../../support/system/sending.ts";
import { until } from "../../../support/until.ts";

const recipients = 500;
const unsavedLimit = 50;

describe("a chunk that is being sent", () => {
  const { db, simulator, goAhead, aDispatcher } = usePipelines("sending", unsavedLimit);

  /** A message with one chunk in the queue; the chunk's id. */
  const aQueuedChunk = async (name: string): Promise<string> => {
    const devices = Array.from({ length: recipients }, (_, n) =>
      aSubscription({ _id: `sub_${name}_${String(n).padStart(4, "0")}`, token: aToken() }),
    );
    const message = aMessage({ _id: `msg_${name}` });
    const ids = devices.map(({ _id }) => _id);
    const chunk = aChunk({ _id: `chk_${name}`, message_id: message._id, recipients: ids, fence: 0 });
    await db().collection<SubscriptionRow>(subscriptionCollection.name).insertMany(devices);
    await db().collection<MessageRow>(messageCollection.name).insertOne(message);
    await collectionOf<ChunkRow>(db(), chunkCollection).insertOne(chunk);
    return chunk._id;
  };

  it("is left to who took it over by a dispatcher that stood still for longer than its lease", async () => {
    const chunkId = await aQueuedChunk("still");
    simulator().script({ delay_ms: 1_000 });
    const halted = aDispatcher("halted").deliver(chunkId);
    await until(() => simulator().log.counts().received > 1, 20_000); // 1 is what APNs admits at first
    const begun = simulator().log.counts().received;
    goAhead(40_000);
    await halted;
    expect(simulator().log.counts().received, "begun before the lease was over").to.be.within(begun, unsavedLimit);

    simulator().script({});
    await aDispatcher("other").deliver(chunkId);
    const stored = await collectionOf<DeliveryRow>(db(), deliveryCollection)
      .find({ message_id: "msg_still" })
      .toArray();
    expect(stored.map(({ status }) => status)).to.deep.equal(Array.from({ length: recipients }, () => "sent"));
    expect(simulator().log.counts()).to.include({ addresses: recipients, repeated_keys: 0 });
  });

  it("is cut off when the grace is over: who may have been reached is uncertain, and not sent to by the next start", async () => {
    const chunkId = await aQueuedChunk("cut");
    simulator().script({ delay_ms: 20_000 });
    const cut = new AbortController();
    const stopped = aDispatcher("stopped", cut.signal).deliver(chunkId);
    await until(() => simulator().log.counts().received > 0);
    cut.abort();
    await stopped;
    const { received } = simulator().log.counts();

    simulator().script({});
    await aDispatcher("next").deliver(chunkId);
    const stored = await collectionOf<DeliveryRow>(db(), deliveryCollection).find({ message_id: "msg_cut" }).toArray();
    expect(stored.filter(({ uncertain }) => uncertain === true)).to.have.length(received);
    expect(stored.filter(({ status }) => status === "sent")).to.have.length(recipients);
    expect(simulator().log.counts()).to.include({ addresses: recipients, repeated_keys: 0 });
  });
});
