import { expect } from "chai";
import { conditionsOf, ready, refused, statusPatch } from "../../../../operator/policies/conditions.ts";

describe("conditions", () => {
  const first = conditionsOf([], { Ready: ready("fine") }, { generation: 1, now: new Date(1_000) });

  it("keep their time while the status stays the same", () => {
    const next = conditionsOf(first, { Ready: ready("still") }, { generation: 2, now: new Date(2_000) });
    expect(next[0]).to.include({
      message: "still",
      observedGeneration: 2,
      lastTransitionTime: "1970-01-01T00:00:01.000Z",
    });
  });

  it("take the new time when the status changes", () => {
    const next = conditionsOf(first, { Ready: refused("Bad", "no") }, { generation: 1, now: new Date(2_000) });
    expect(next[0]?.lastTransitionTime).to.equal("1970-01-01T00:00:02.000Z");
  });

  it("stay when nothing is found about their type", () => {
    const next = conditionsOf(first, { Synced: ready("ok") }, { generation: 1, now: new Date(2_000) });
    expect(next.map(({ type }) => type)).to.deep.equal(["Ready", "Synced"]);
  });

  const patches = [
    {
      it: "nothing for the same status in another order",
      before: { a: { x: 1, y: 2 } },
      after: { a: { y: 2, x: 1 } },
      patch: null,
    },
    { it: "what is new", before: { a: 1 }, after: { a: 1, b: 2 }, patch: { b: 2 } },
    { it: "null for what went", before: { a: 1, b: 2 }, after: { a: 1 }, patch: { b: null } },
  ];
  for (const { it: name, before, after, patch } of patches) {
    it(`make a patch of ${name}`, () => {
      expect(statusPatch(before, after)).to.deep.equal(patch);
    });
  }
});
