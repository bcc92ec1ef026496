import { expect } from "chai";
import type { Ended } from "../../../../dev/suite/run-all.ts";
import { summaryOf } from "../../../../dev/suite/summary.ts";

type Of = { tookMs: number; cpuMs: number; tests: number; failures?: string[] };

const anEnd = (name: string, { tookMs, cpuMs, tests, failures = [] }: Of): Ended => ({
  run: { name, files: [], expectedMs: 0, isAlone: false },
  report: {
    passed: tests,
    failed: failures.length,
    failures,
    tests: Array.from({ length: tests }, (_, n) => ({ title: `${name} ${n}`, file: name, tookMs: n })),
    loadCpuMs: 500,
    cpuMs: cpuMs - 1_000,
    startedCpuMs: 1_000,
  },
  tookMs,
});

describe("the end of a run of the suite", () => {
  const ended = [
    anEnd("unit/core", { tookMs: 9_000, cpuMs: 4_000, tests: 800 }),
    anEnd("integration/a", { tookMs: 2_000, cpuMs: 3_000, tests: 10 }),
    anEnd("chaos/b", { tookMs: 60_000, cpuMs: 12_300, tests: 1, failures: ["it broke"] }),
  ];
  const lines = summaryOf(ended, { nats: 700, redis: 5_000 }).split("\n");
  const after = (head: string): string | undefined => lines[lines.indexOf(head) + 1];

  it("says what all cost and may, and who used it", () => {
    const head = lines.indexOf("25.0 s of CPU, in 3 runs of 71.0 s; all of make test may take 650 s:");
    expect(lines.slice(head + 1, head + 6)).to.deep.equal([
      "     1.5 s  loading the files of tests",
      "    14.8 s  the tests themselves",
      "     3.0 s  the programs and servers that they started",
      "     0.7 s  nats, which all share",
      "     5.0 s  redis, which all share",
    ]);
  });

  it("names the dearest file, what a test of it cost, and what it may", () => {
    const head = lines.indexOf("The 10 dearest files, by CPU");
    expect(lines.slice(head + 1, head + 4)).to.deep.equal([
      "    12.3 s  chaos/b: 12300 ms a test, of 20000 ms that it may",
      "     4.0 s  unit/core: 5 ms a test, of 5 ms that it may",
      "     3.0 s  integration/a: 300 ms a test, of 150 ms that it may",
    ]);
  });

  it("names the slowest file, and what failed with its file", () => {
    expect(after("The 10 slowest files")).to.equal("    60.0 s  chaos/b");
    expect(after("Failed")).to.equal("  chaos/b: it broke");
  });
});
