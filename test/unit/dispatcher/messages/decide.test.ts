import { expect } from "chai";
import type { MessageWinner } from "#core/storage/messages/message-row.ts";
import { type DecideDeps, decide, nextLook } from "../../../../dispatcher/messages/decide.ts";
import { aMessage, noon } from "../../../support/rows/work.ts";

const minutes = (n: number): Date => new Date(noon.getTime() + n * 60_000);
const variant = (id: string) => ({ id, name: id, weight_percent: 50, is_control: false, content: {} });
const winner = (change: Partial<MessageWinner> = {}): MessageWinner => ({
  metric: "click_rate",
  after_minutes: 60,
  test_percent: 20,
  rule: "anytime",
  min_per_variant: 100,
  if_undecided: "best",
  decides_at: minutes(60),
  ...change,
});
const message = (change: Partial<MessageWinner> = {}) =>
  aMessage({ variants: [variant("a"), variant("b")], winner: winner(change) });

describe("the search for the variant that most people get", () => {
  it("looks 30 times by the rule anytime, once by the others, and no more once it is decided", () => {
    expect(nextLook(message(), noon)).to.deep.equal(minutes(2));
    expect(nextLook(message(), minutes(5))).to.deep.equal(minutes(6));
    expect(nextLook(message({ rule: "bayes" }), noon)).to.deep.equal(minutes(60));
    expect(nextLook(message({ decided_at: noon }), noon)).to.equal(null);
    expect(nextLook(aMessage(), noon)).to.equal(null);
  });

  const run = async (change: Partial<MessageWinner>, now: Date, conversions: [number, number]) => {
    const row = message(change);
    const [stored, hastened]: [Partial<MessageWinner>[], Date[]] = [[], []];
    const experiments: DecideDeps["experiments"] = {
      tally: async () =>
        ["a", "b"].map((id, i) => ({ id, assigned: 500, n: 500, conversions: conversions[i as 0 | 1] })),
      decide: async (_, decision) => stored.push(decision) > 0,
      move: async (_, decision) => stored.push(decision) > 0,
      hasten: async (_, at) => void hastened.push(at),
      read: async () => ({ ...row, winner: { ...winner(change), ...stored[0] } }),
    };
    const after = await decide({ experiments, clock: { now: () => now } })(row);
    const { steps } = stored[0] ?? {};
    const moved = steps && { steps: Object.keys(steps), weights: steps["1"]?.map(Math.round) };
    return { chosen: after.winner?.chosen, reason: stored[0]?.verdict?.reason, hastened: hastened.length, ...moved };
  };

  it("ends before its time when a variant is better by the rule anytime, and has the rest sent to at once", async () => {
    expect(await run({}, minutes(10), [10, 200])).to.deep.equal({ chosen: "b", reason: "better", hastened: 1 });
    const open = { chosen: undefined, reason: undefined, hastened: 0 };
    expect(await run({}, minutes(10), [10, 11])).to.deep.equal(open);
    expect(await run({ rule: "bayes" }, minutes(10), [10, 200])).to.deep.equal(open);
  });

  it("moves weights step by step by the rule bandit, all those that are missing at once", async () => {
    const rule = "bandit" as const;
    expect(nextLook(message({ rule }), noon)).to.deep.equal(minutes(15));
    expect(nextLook(message({ rule }), minutes(59))).to.deep.equal(minutes(60));
    const open = { chosen: undefined, reason: undefined, hastened: 0 };
    expect(await run({ rule }, minutes(14), [10, 200])).to.deep.equal(open);
    expect(await run({ rule }, minutes(31), [10, 200])).to.deep.equal({ ...open, steps: ["1", "2"], weights: [1, 99] });
    const asked = { rule, min_per_variant: 501 };
    expect(await run(asked, minutes(15), [10, 200])).to.deep.equal({ ...open, steps: ["1"], weights: [50, 50] });
    expect(await run({ rule, p_srm: 0.0001 }, minutes(15), [10, 200]))
      .to.include({ chosen: undefined })
      .and.to.deep.include({ weights: [50, 50] });
    const made = { rule, steps: { 1: [50, 50], 2: [50, 50], 3: [40, 60] } };
    expect(await run(made, minutes(59), [10, 200])).to.deep.equal(open);
    expect(await run(made, minutes(60), [10, 200])).to.include({ chosen: "b", reason: "better" });
  });

  it("ends at its time, whatever was found", async () => {
    expect(await run({}, minutes(60), [10, 11])).to.deep.equal({ chosen: "b", reason: "undecided", hastened: 0 });
    expect(await run({ if_undecided: "none" }, minutes(61), [10, 11])).to.include({ chosen: null });
  });

  it("goes on with what another has decided, and hastens who waits for it anew after a kill", async () => {
    const other = { chosen: "a", decided_at: minutes(4) };
    expect(await run(other, minutes(5), [10, 200])).to.deep.equal({ chosen: "a", reason: undefined, hastened: 1 });
  });
});
