import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { beats } from "../../../../../dispatcher/webhooks/partitions/beats.ts";

describe("the beats of dispatchers", () => {
  const tableOf = (beatsOf: Record<string, number>) =>
    Object.entries(beatsOf).map(([holder, beat]) => ({ holder, beat, isLeaving: false }));
  const look = (gone: ReturnType<typeof beats>, table: Record<string, number>, nowMs: number) => [
    ...gone(tableOf(table), nowMs).gone,
  ];

  it("show who is gone: whose beat stays the same for ten seconds", () => {
    const gone = beats(timings.usual.owners);
    for (let nowMs = 0; nowMs < 10_000; nowMs += 2_000)
      expect(look(gone, { a: nowMs, dead: 7 }, nowMs), `${nowMs}`).to.deep.equal([]);
    expect(look(gone, { a: 10_000, dead: 7 }, 10_000)).to.deep.equal(["dead"]);
    expect(look(gone, { a: 12_000, dead: 8 }, 12_000), "it was only slow").to.deep.equal([]);
  });

  it("show before that who may be gone", () => {
    const seen = beats(timings.usual.owners);
    for (const nowMs of [0, 4_000]) expect([...seen(tableOf({ a: 1 }), nowMs).silent]).to.deep.equal([]);
    expect([...seen(tableOf({ a: 1 }), 6_000).silent]).to.deep.equal(["a"]);
    expect([...seen(tableOf({ a: 2 }), 8_000).silent]).to.deep.equal([]);
  });

  it("say nothing of a time in which nobody looked", () => {
    const gone = beats(timings.usual.owners);
    look(gone, { a: 1 }, 0);
    expect(look(gone, { a: 1 }, 60_000), "the store was away, for the other too").to.deep.equal([]);
    for (const nowMs of [64_000, 68_000]) expect(look(gone, { a: 1 }, nowMs)).to.deep.equal([]);
    expect(look(gone, { a: 1 }, 70_000)).to.deep.equal(["a"]);
  });
});
