import { expect } from "chai";
import { nextTry, retryChunks } from "../../../../../dispatcher/messages/delivery/retry.ts";
import { aChunk, noon } from "../../../../support/rows/work.ts";

const after = (ms: number): Date => new Date(noon.getTime() + ms);

describe("retry", () => {
  it("waits for the provider's instant when that is later than our own pause", () => {
    expect(nextTry(after(600_000), 0, noon, () => 0)).to.deep.equal(after(600_000));
  });

  it("waits longer with each attempt when the provider names no later instant", () => {
    const waits = [0, 1, 2, 20].map((attempt) => nextTry(noon, attempt, noon, () => 1).getTime() - noon.getTime());
    expect(waits).to.deep.equal([5_000, 10_000, 20_000, 1_800_000]);
  });

  it("puts recipients that are due at once into one chunk that continues the first", () => {
    const again = [
      { subscriptionId: "sub_1", at: after(1_000) },
      { subscriptionId: "sub_2", at: after(2_000) },
      { subscriptionId: "sub_3", at: after(60_000) },
    ];
    const made = retryChunks(aChunk({ position: 7 }), again, noon);
    expect(made.map((chunk) => chunk.recipients)).to.deep.equal([["sub_1", "sub_2"], ["sub_3"]]);
    expect(made[0]).to.include({ parent_id: aChunk()._id, attempt: 1, position: 7, status: "open" });
  });

  it("is due no earlier than its recipients", () => {
    const [chunk] = retryChunks(aChunk(), [{ subscriptionId: "sub_1", at: after(1_000) }], noon);
    expect(chunk?.due_at?.getTime()).to.be.at.least(after(1_000).getTime());
  });

  it("counts the ttl from the first dispatch, not from the retry", () => {
    const first = after(-50_000);
    const [chunk] = retryChunks(aChunk({ dispatched_at: first }), [{ subscriptionId: "sub_1", at: noon }], noon);
    expect(chunk?.dispatched_at).to.deep.equal(first);
  });
});
