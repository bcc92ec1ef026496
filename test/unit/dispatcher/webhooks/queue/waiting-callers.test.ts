import { expect } from "chai";
import { type WaitingCallersDeps, waitingCallers } from "../../../../../dispatcher/webhooks/queue/waiting-callers.ts";

describe("the callers that wait for an endpoint queue", () => {
  /** Callers whose circumstances can be changed, and who was let in. */
  const aRoom = () => {
    const state = { nowMs: 1_000, free: 0, perSecond: 600, isWorthWaiting: true };
    const deps: WaitingCallersDeps = {
      nowMs: () => state.nowMs,
      free: () => state.free,
      perSecond: () => state.perSecond,
      isWorthWaiting: () => state.isWorthWaiting,
    };
    const { enter, admit } = waitingCallers(deps);
    const inside: string[] = [];
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    return {
      state,
      inside,
      enter: async (who: string, count: number, most = 600) => {
        void (enter(count, most) ?? Promise.resolve()).then(() => inside.push(who));
        await settled();
      },
      admit: async () => {
        admit();
        await settled();
      },
    };
  };

  it("lets in who finds room", async () => {
    const { state, inside, enter } = aRoom();
    state.free = 10;
    await enter("a", 10);
    expect(inside).to.deep.equal(["a"]);
  });

  it("lets others in as there is room, in order of coming", async () => {
    const { state, inside, enter, admit } = aRoom();
    for (const [who, count] of [
      ["a", 10],
      ["b", 5],
      ["c", 1],
    ] as const)
      await enter(who, count);
    state.free = 9;
    await admit();
    expect(inside, "the first does not fit").to.deep.equal([]);
    state.free = 15;
    await admit();
    expect(inside).to.deep.equal(["a", "b"]);
    state.free = 1;
    await enter("d", 1);
    expect(inside, "nobody overtakes").to.deep.equal(["a", "b"]);
    await admit();
    expect(inside).to.deep.equal(["a", "b", "c"]);
  });

  it("lets in a caller with more than it ever has room for, when all of it is free", async () => {
    const { state, inside, enter, admit } = aRoom();
    state.perSecond = 2_000;
    await enter("a", 1_000);
    state.free = 600;
    await admit();
    expect(inside).to.deep.equal(["a"]);
  });

  it("keeps nobody waiting for more than is taken in five seconds", async () => {
    const { state, inside, enter } = aRoom();
    state.perSecond = 2;
    await enter("a", 8);
    await enter("b", 3);
    expect(inside).to.deep.equal(["b"]);
  });

  it("keeps nobody waiting when it is not worth it, or no longer", async () => {
    const { state, inside, enter, admit } = aRoom();
    await enter("a", 1);
    state.isWorthWaiting = false;
    await enter("b", 1);
    expect(inside).to.deep.equal(["b"]);
    await admit();
    expect(inside).to.deep.equal(["b", "a"]);
  });

  it("keeps nobody waiting for longer than fifteen seconds", async () => {
    const { state, inside, enter, admit } = aRoom();
    await enter("a", 1);
    state.nowMs += 14_999;
    await enter("b", 1);
    await admit();
    expect(inside).to.deep.equal([]);
    state.nowMs += 1;
    await admit();
    expect(inside).to.deep.equal(["a"]);
  });
});
