import { expect } from "chai";
import { QueueState } from "../../../../../dispatcher/webhooks/queue/state.ts";

type Given = Partial<
  Pick<QueueState, "hasEnded" | "isReleased" | "isGone"> & { isResting: boolean; mayBegin: boolean }
>;

describe("an endpoint queue accepts deliveries and begins requests", () => {
  const rows: { it: string; given: Given; expected: boolean }[] = [
    { it: "while it is open", given: {}, expected: true },
    { it: "not once it has ended", given: { hasEnded: true }, expected: false },
    { it: "not once it is to end", given: { isReleased: true }, expected: false },
    { it: "not once the endpoint has said that it is gone", given: { isGone: true }, expected: false },
    { it: "not while the endpoint is paused or disabled", given: { isResting: true }, expected: false },
    { it: "not when another process may own the endpoint", given: { mayBegin: false }, expected: false },
  ];
  for (const { it: name, given, expected } of rows) {
    it(name, () => {
      const { isResting = false, mayBegin = true, ...rest } = given;
      const state = Object.assign(new QueueState({ isResting: () => isResting, mayBegin: () => mayBegin }), rest);
      expect(state.isServing()).to.equal(expected);
    });
  }
});
