import { expect } from "chai";
import { afterAttempt } from "#core/domain/warehouse/failures.ts";

const [done, open, left] = [{ is_done: true }, { is_done: false }, { is_done: false, is_left: true as const }];

describe("a run of a warehouse export that did not get through", () => {
  const cases = [
    { it: "waits a minute after its first attempt", attempt: 0, datasets: [open], is: { kind: "retry", attempt: 1 } },
    {
      it: "waits four hours after its fifth",
      attempt: 4,
      datasets: [open],
      is: { kind: "retry", delayMs: 14_400_000 },
    },
    { it: "is given up after its sixth", attempt: 5, datasets: [open, open], is: { kind: "giveUp", isLast: true } },
    { it: "leaves what is not written", attempt: 5, datasets: [open, done, open], is: { kind: "leave", left: [0, 2] } },
    { it: "goes on with its manifest", attempt: 5, datasets: [done, left], is: { kind: "retry", delayMs: 14_400_000 } },
    {
      it: "is given up where its store is no longer the export's",
      attempt: 5,
      datasets: [done],
      moved: true,
      is: { kind: "giveUp" },
    },
  ];
  for (const { it: name, attempt, datasets, moved, is } of cases)
    it(name, () => expect(afterAttempt(attempt, datasets, moved)).to.deep.include(is));
});
