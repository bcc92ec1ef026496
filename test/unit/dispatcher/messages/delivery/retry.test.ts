import { expect } from "chai";
import type { Options } from "#core/schema/messages/notification.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import { collapseKey } from "#core/storage/messages/collapse.ts";
import { nextTry, retryChunks } from "../../../../../dispatcher/messages/delivery/retry.ts";
import { aChunk, aMessage, noon } from "../../../../support/rows/work.ts";

const of = (chunk: Partial<ChunkRow> = {}, options: Options = {}) => ({
  chunk: aChunk(chunk),
  message: aMessage({ options }),
});
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
      { subscriptionId: "sub_1", at: after(1_000), mayHaveArrived: false },
      { subscriptionId: "sub_2", at: after(2_000), mayHaveArrived: false },
      { subscriptionId: "sub_3", at: after(60_000), mayHaveArrived: false },
    ];
    const made = retryChunks(of({ position: 7 }), again, noon);
    expect(made.map((chunk) => chunk.recipients)).to.deep.equal([["sub_1", "sub_2"], ["sub_3"]]);
    expect(made[0]).to.include({ parent_id: aChunk()._id, attempt: 1, position: 7, status: "open" });
  });

  it("keeps what became of each try with whom failed alike, the latest of them", () => {
    const triedAs = (code: string) => ({ at: noon, provider: "apns", code, provider_code: null, answer: code });
    const failed = ["A", "B", "A"].map((code, n) => ({
      subscriptionId: `sub_${n}`,
      at: noon,
      mayHaveArrived: false,
      tried: triedAs(code),
    }));
    const tried = Array.from({ length: 20 }, () => triedAs("FIRST"));
    const made = retryChunks(of({ tried }), failed, noon);
    expect(made.map((chunk) => chunk.recipients)).to.deep.equal([["sub_0", "sub_2"], ["sub_1"]]);
    expect(made.map((chunk) => chunk.tried?.length)).to.deep.equal([20, 20]);
    expect(made.map((chunk) => chunk.tried?.at(-1)?.code)).to.deep.equal(["A", "B"]);
  });

  it("is due no earlier than its recipients", () => {
    const [chunk] = retryChunks(of(), [{ subscriptionId: "sub_1", at: after(1_000), mayHaveArrived: false }], noon);
    expect(chunk?.due_at?.getTime()).to.be.at.least(after(1_000).getTime());
  });

  it("counts the ttl from the first dispatch, not from the retry", () => {
    const first = after(-50_000);
    const again = [{ subscriptionId: "sub_1", at: noon, mayHaveArrived: false }];
    const [chunk] = retryChunks(of({ dispatched_at: first }), again, noon);
    expect(chunk?.dispatched_at).to.deep.equal(first);
  });

  it("keeps apart whom it may have reached, and says so of them alone", () => {
    const mixed = [
      { subscriptionId: "sub_1", at: noon, mayHaveArrived: true },
      { subscriptionId: "sub_2", at: noon, mayHaveArrived: false },
    ];
    const made = retryChunks(of({ may_have_arrived: true }), mixed, noon);
    expect(made.map((chunk) => [chunk.recipients, chunk.may_have_arrived])).to.deep.equal([
      [["sub_2"], false],
      [["sub_1"], true],
    ]);
    expect(new Set(made.map(({ _id }) => _id))).to.have.property("size", 2);
  });

  const again = ["sub_1", "sub_2"].map((subscriptionId) => ({ subscriptionId, at: noon, mayHaveArrived: false }));
  const keysOf = (chunk: Partial<ChunkRow>, options: Options) =>
    retryChunks(of(chunk, options), again, noon).map(({ collapse_keys: keys }) => keys);

  it("can be found by a later push of the same collapse id, by recipient", () => {
    const wanted = ["sub_1", "sub_2"].map((id) => collapseKey("score", id));
    expect(keysOf({}, { collapse_id: "score" })).to.deep.equal([wanted]);
    expect(new Set([...wanted, collapseKey("other", "sub_1")]).size).to.equal(3);
  });

  it("has no such keys without a collapse id, nor on a channel where nothing is replaced", () => {
    expect(keysOf({}, {})).to.deep.equal([undefined]);
    expect(keysOf({}, { collapse_id: "" })).to.deep.equal([undefined]);
    expect(keysOf({ channel: "email" }, { collapse_id: "score" })).to.deep.equal([undefined]);
  });
});
