import { expect } from "chai";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { expire } from "../../../../dispatcher/messages/delivery/delivery-row.ts";
import type { Delivered } from "../../../../dispatcher/messages/delivery/work.ts";
import { type SendChunksDeps, sendChunks } from "../../../../dispatcher/messages/send-chunks.ts";
import { aChunk, aLease, aMessage, anApp, anAttempt, handClock, noon } from "../../../support/rows/work.ts";

const nothing: Delivered = { stored: [], fresh: [], again: [], invalid: [], doubted: 0, halted: false };
const again = [{ subscriptionId: "sub_1", at: noon, mayHaveArrived: false }];
const chunk = aChunk();
const [before, now]: DeliveryRow[] = ["dlv_1", "dlv_2"].map((deliveryId) =>
  expire(anAttempt({ deliveryId, expiresAt: noon })),
);
const rows = {
  stored: [before, now].filter((row) => row !== undefined),
  fresh: [now].filter((row) => row !== undefined),
};

const given = (change: Partial<SendChunksDeps> = {}) => {
  const did: unknown[] = [];
  const run = sendChunks({
    deliver: async (work) => {
      did.push(`deliver ${work.chunk.recipients.join()}`);
      return { ...nothing, ...rows };
    },
    followUp: async () => did.push("follow up") > 0,
    chunks: { recipientsOfRetries: async () => ["sub_2"] },
    countUsage: async ({ id }, stored) => void did.push(`use ${id} ${stored.length}`),
    messages: { count: async (_id, counts) => void did.push(counts) },
    clock: handClock(),
    ...change,
  });
  const batch = { message: aMessage(), app: anApp(), chunks: [{ chunk }] };
  return {
    did,
    queued: () => run({ ...batch, holder: chunk._id, isWhole: false }, aLease()),
    whole: () => run({ ...batch, holder: "msg_1", isWhole: true }, aLease()),
    batch,
    run,
  };
};

describe("sending a chunk", () => {
  it("delivers, follows up and counts what is new, in this order", async () => {
    const { did, queued } = given();
    const sent = await queued();
    expect(sent).to.deep.include({ kind: "sent", hasRetries: false });
    expect(sent.stored).to.have.length(2);
    expect(did).to.deep.equal(["deliver sub_1", "follow up", `use ${chunk._id} 2`, { targeted: 1, expired: 1 }]);
  });

  it("leaves the counting to the end of a message that ends with it", async () => {
    const { did, whole } = given();
    await whole();
    expect(did).to.deep.equal(["deliver sub_1", "follow up", `use msg_1 2`]);
  });

  it("counts the usage of a message on several channels once, with its last chunk", async () => {
    const { did, run, batch } = given();
    const chunks = [{ chunk }, { chunk: aChunk({ _id: "chk_2", position: 1 }) }];
    await run({ ...batch, chunks, holder: "msg_1", isWhole: true }, aLease());
    expect(did.filter((one) => String(one).startsWith("use"))).to.deep.equal(["use msg_1 4"]);
  });

  for (const { it: what, change, kind } of [
    {
      it: "some are to be tried again",
      change: { deliver: async () => ({ ...nothing, ...rows, again }) },
      kind: "sent",
    },
    { it: "it was halted", change: { deliver: async () => ({ ...nothing, ...rows, halted: true }) }, kind: "halted" },
    { it: "its events were not published", change: { followUp: async () => false }, kind: "unpublished" },
  ] as const)
    it(`counts when ${what}, so that the message does not end yet`, async () => {
      const { did, whole } = given(change);
      expect((await whole()).kind).to.equal(kind);
      expect(did.at(-1)).to.deep.equal({ targeted: 1, expired: 1 });
    });

  it("leaves out those whom an earlier run handed to a retry", async () => {
    const { did, run, batch } = given();
    const interrupted = aChunk({ recipients: ["sub_1", "sub_2"], fence: 2 });
    const { hasRetries } = await run(
      { ...batch, chunks: [{ chunk: interrupted }], holder: "msg_1", isWhole: true },
      aLease(),
    );
    expect([did[0], hasRetries]).to.deep.equal(["deliver sub_1", true]);
  });

  it("leaves its usage to the run that has taken it over", async () => {
    const { did, run, batch } = given();
    await run({ ...batch, holder: "msg_1", isWhole: true }, aLease({ isLost: () => true }));
    expect(did).to.deep.equal(["deliver sub_1", "follow up"]);
  });

  it("begins no further chunk when one was halted", async () => {
    const { did, run, batch } = given({ deliver: async () => (did.push("deliver"), { ...nothing, halted: true }) });
    await run({ ...batch, chunks: [{ chunk }, { chunk }], holder: "msg_1", isWhole: true }, aLease());
    expect(did.filter((one) => one === "deliver")).to.have.length(1);
  });
});
