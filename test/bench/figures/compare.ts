import { type CpuOfEach, splitOf } from "../cpu.ts";
import { atLeast, atMost, type Figure } from "./figure.ts";

/** Work that was measured: how fast it was done, what each unit of it cost, and what a bare push cost at that time. */
export type Work = { perSecond: number; cpuUs: CpuOfEach; pushUs: number };

/** What other work in the same run it is compared with, and what is to be reached: % of that work's rate and CPU. */
export type Comparison = { with: Work; called: string; rate: number; cpu: number };

/** Dispatchers are compared with one: on the two cores that a rate is for, more of them cannot be faster. */
export const withOneDispatcher = (work: Work): Comparison => ({
  with: work,
  called: "1 dispatcher",
  rate: 95,
  cpu: 115,
});

/** Both are scaled by what a bare push cost beside each: a machine may be slower ten seconds later. */
export const compare = (name: string, work: Work, comparison: Comparison): Figure[] => {
  const { with: other, called, rate, cpu } = comparison;
  const pushes = `a push ${work.pushUs.toFixed(1)} and ${other.pushUs.toFixed(1)} µs`;
  const rates = `${work.perSecond.toFixed(0)}/s; ${called} in the same run: ${other.perSecond.toFixed(0)}/s; ${pushes}`;
  const cpus = comparedCpu(work, other, called);
  const slower = work.pushUs / other.pushUs;
  const ofRate = percent(work.perSecond * slower, other.perSecond);
  const ofCpu = percent(work.cpuUs.all / slower, other.cpuUs.all);
  return [
    { name, reach: atLeast(rate), value: ofRate, unit: "%", how: rates },
    { name: `${name}, CPU`, reach: atMost(cpu), value: ofCpu, unit: "%", how: cpus },
  ];
};

/** The CPU of both, for a person to read. */
export const comparedCpu = (work: Work, other: Work, called: string): string =>
  `${work.cpuUs.all.toFixed(0)} µs (${splitOf(work.cpuUs)}); ${called}: ${other.cpuUs.all.toFixed(0)} µs`;

export const percent = (part: number, whole: number): number => (100 * part) / whole;
