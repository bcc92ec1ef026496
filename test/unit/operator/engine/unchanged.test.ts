import { expect } from "chai";
import type { Resource } from "#core/runtime/kube/objects.ts";
import type { Verdict } from "../../../../operator/engine/handler.ts";
import { unlessUnchanged } from "../../../../operator/engine/unchanged.ts";

const anObject = (): Resource => ({ metadata: { name: "a", uid: "1", resourceVersion: "1" }, spec: {} });
const fine: Verdict = { ready: { status: "True", reason: "Reconciled", message: "" }, isChanged: false };
const signal = new AbortController().signal;

type State = { inputs: unknown[]; now: Date; passes: number };

/** A handler that counts its passes, on inputs and at a time that the test, or a pass, changes. */
const world = (verdicts: Verdict[] = [], during: (state: State) => void = () => {}) => {
  const state: State = { inputs: [{ row: 1 }], now: new Date("2026-11-21T12:00:00Z"), passes: 0 };
  const handler = unlessUnchanged(
    {
      reconcile: async () => {
        during(state);
        return verdicts[state.passes++] ?? fine;
      },
      remove: async () => null,
    },
    { inputsOf: async () => state.inputs, clock: { now: () => state.now } },
  );
  return { state, pass: (object: Resource) => handler.reconcile(object, signal) };
};

describe("a pass whose inputs are unchanged", () => {
  it("is spared, and says what the last one said", async () => {
    const { state, pass } = world([{ ...fine, status: { id: "app_1" } }]);
    const object = anObject();
    const first = await pass(object);
    expect(await pass(object)).to.deep.equal(first);
    expect(state.passes).to.equal(1);
  });

  const unsettled: { it: string; verdict: Verdict }[] = [
    { it: "wrote something", verdict: { ...fine, isChanged: true } },
    { it: "was refused", verdict: { ...fine, ready: { status: "False", reason: "NameTaken", message: "" } } },
    { it: "waits", verdict: { ...fine, ready: { status: "Unknown", reason: "AppNotReady", message: "" } } },
  ];
  for (const { it: what, verdict } of unsettled) {
    it(`is made when the last one ${what}`, async () => {
      const { state, pass } = world([verdict]);
      const object = anObject();
      await pass(object);
      await pass(object);
      expect(state.passes).to.equal(2);
    });
  }

  it("is made when a document is another, and when it is again what it was", async () => {
    const { state, pass } = world();
    const object = anObject();
    for (const row of [1, 2, 1]) {
      state.inputs = [{ row }];
      await pass(object);
    }
    expect(state.passes).to.equal(3);
  });

  it("is made when the API server has another version of the object", async () => {
    const { state, pass } = world();
    await pass(anObject());
    await pass(anObject());
    expect(state.passes).to.equal(2);
  });

  it("is made when its time has come, which is not put off", async () => {
    const { state, pass } = world([{ ...fine, requeueAfterMs: 60_000 }]);
    const object = anObject();
    await pass(object);
    state.now = new Date(state.now.getTime() + 45_000);
    expect((await pass(object)).requeueAfterMs).to.equal(15_000);
    state.now = new Date(state.now.getTime() + 15_000);
    await pass(object);
    expect(state.passes).to.equal(2);
  });

  it("is made when something changed while the last one ran", async () => {
    const { state, pass } = world([], (passing) => {
      passing.inputs = [{ row: 2 }]; // the handler may have read this one already
    });
    const object = anObject();
    await pass(object);
    await pass(object);
    expect(state.passes).to.equal(2);
  });

  it("is made after one that failed", async () => {
    const object = anObject();
    let passes = 0;
    const handler = unlessUnchanged(
      {
        reconcile: async () => {
          passes++;
          if (passes === 2) throw new Error("away");
          return { ...fine, isChanged: passes === 1 };
        },
        remove: async () => null,
      },
      { inputsOf: async () => [], clock: { now: () => new Date() } },
    );
    await handler.reconcile(object, signal);
    await handler.reconcile(object, signal).catch(() => null);
    await handler.reconcile(object, signal);
    await handler.reconcile(object, signal);
    expect(passes).to.equal(3);
  });
});
