import { type CpuOfEach, splitOf } from "./cpu.ts";
import { atLeast, atMost, type Figure } from "./figure.ts";

/** Work that was measured: how fast it was done, and what each unit of it cost. */
export type Work = { perSecond: number; cpuUs: CpuOfEach };

/** What other work in the same run it is compared with, and what is to be reached: % of that work's rate and CPU. */
export type Comparison = { with: Work; called: string; rate: number; cpu: number };

/** Dispatchers are compared with one: on the two cores that a rate is for, more of them cannot be faster. */
export const withOneDispatcher = (work: Work): Comparison => ({
  with: work,
  called: "1 dispatcher",
  rate: 95,
  cpu: 115,
});

export const compare = (name: string, work: Work, comparison: Comparison): Figure[] => {
  const { with: other, called, rate, cpu } = comparison;
  const rates = `${work.perSecond.toFixed(0)}/s; ${called} in the same run: ${other.perSecond.toFixed(0)}/s`;
  const cpus = comparedCpu(work, other, called);
  return [
    { name, reach: atLeast(rate), value: percent(work.perSecond, other.perSecond), unit: "%", how: rates },
    { name: `${name}, CPU`, reach: atMost(cpu), value: percent(work.cpuUs.all, other.cpuUs.all), unit: "%", how: cpus },
  ];
};

/** The CPU of both, for a person to read. */
export const comparedCpu = (work: Work, other: Work, called: string): string =>
  `${work.cpuUs.all.toFixed(0)} µs (${splitOf(work.cpuUs)}); ${called}: ${other.cpuUs.all.toFixed(0)} µs`;

export const percent = (part: number, whole: number): number => (100 * part) / whole;
