import { expect } from "chai";
import pino from "pino";
import { noUsage } from "#core/domain/usage/figures.ts";
import { usageCounter } from "#core/storage/usage/counter.ts";
import type { UsageChange } from "#core/storage/usage/tenant-usage.ts";

describe("the counting of usage", () => {
  type Answer = (changes: readonly UsageChange[]) => UsageChange[];
  const given = (answers: Answer[] = []) => {
    const writes: UsageChange[][] = [];
    let now = new Date("2026-11-30T23:59:58Z");
    const add = async (changes: readonly UsageChange[]) => {
      writes.push(structuredClone([...changes]));
      return answers.shift()?.(changes) ?? [];
    };
    const counter = usageCounter({
      rows: { add },
      clock: { now: () => now },
      log: pino({ level: "silent" }),
      everyMs: 60_000,
    });
    const at = (instant: string): void => {
      now = new Date(instant);
    };
    return { counter, writes, at };
  };
  const away = () => {
    throw new Error("the store is away");
  };
  const shown = (changes: readonly UsageChange[] = []) =>
    changes.map(({ tenantId, period, counts }) => [tenantId, period.id, counts.requests, counts.bytes]);

  it("writes one sum for each tenant and period", async () => {
    const { counter, writes } = given();
    counter.count("ten_a", { requests: 1, bytes: 10 });
    counter.count("ten_b", { requests: 1 });
    counter.count("ten_a", { requests: 1, bytes: 5 });
    await counter.flush();
    expect(writes.map(shown)).to.deep.equal([
      [
        ["ten_a", "5m/2026-11-30T23:55", 2, 15],
        ["ten_a", "month/2026-11", 2, 15],
        ["ten_b", "5m/2026-11-30T23:55", 1, 0],
        ["ten_b", "month/2026-11", 1, 0],
      ],
    ]);
  });

  it("writes nothing when nothing was counted", async () => {
    const { counter, writes } = given();
    await counter.flush();
    expect(writes).to.deep.equal([]);
  });

  it("keeps what the store did not take in its period, and adds to it", async () => {
    const { counter, writes, at } = given([away]);
    counter.count("ten_a", { requests: 1 });
    await counter.flush();
    counter.count("ten_a", { requests: 2 });
    await counter.flush();
    at("2026-12-01T00:00:03Z");
    counter.count("ten_a", { requests: 4 });
    await counter.flush();
    expect(writes.slice(1).map(shown)).to.deep.equal([
      [
        ["ten_a", "5m/2026-11-30T23:55", 3, 0],
        ["ten_a", "month/2026-11", 3, 0],
      ],
      [
        ["ten_a", "5m/2026-12-01T00:00", 4, 0],
        ["ten_a", "month/2026-12", 4, 0],
      ],
    ]);
  });

  it("writes again only what was refused by itself", async () => {
    const { counter, writes } = given([(changes) => changes.slice(1)]);
    counter.count("ten_a", { requests: 1 });
    await counter.flush();
    await counter.flush();
    expect(shown(writes[1])).to.deep.equal([["ten_a", "month/2026-11", 1, 0]]);
  });

  it("stores what is counted when the program stops, also after a failure", async () => {
    const { counter, writes } = given([away]);
    await counter.start(new AbortController().signal);
    counter.count("ten_a", { ...noUsage(), messages: 1 });
    await counter.stop(AbortSignal.timeout(1_000));
    expect(writes.at(-1)?.map(({ counts }) => counts.messages)).to.deep.equal([1, 1]);
  });

  it("counts for 10,000 tenants at most between two writes", async () => {
    const { counter, writes } = given();
    for (let n = 0; n < 10_001; n++) counter.count(`ten_${n}`, { requests: 1 });
    await counter.flush();
    expect(writes.flat()).to.have.length(20_000);
  });
});
