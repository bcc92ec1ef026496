import { inPlaces } from "../../dev/suite/pool.ts";
import type { Tally } from "../support/suite/reporter.ts";
import { type Figure, type JudgedFigure, judge } from "./figures/figure.ts";
import { failedRow, heading, rowOf } from "./figures/table.ts";
import type { Round } from "./servers.ts";

/** Measures, and tells each figure as soon as it is known. */
export type Measurement = (round: Round, tell: (...figures: Figure[]) => void) => Promise<void>;

/** Measurements whose figures are kept in one baseline, each by the name that asks for it. */
export type Measurements = Record<string, Measurement>;

export type Course = {
  groups: Readonly<Record<string, Measurements>>;
  round: Round;
  print: (line: string) => void;
  /** Keeps what a measurement of a group has printed, also when it failed afterwards. */
  keep: (group: string, figures: readonly JudgedFigure[]) => void;
  /** How long one measurement may take. */
  withinMs: number;
};

/** How many groups of a short round are measured at once. */
const groupsAtOnce = 4;

/**
 * Makes one measurement after another and prints each figure when it is known; a measurement that fails is a row that
 * says so, and the next ones are made. In a short round some groups run side by side. The rows of what failed come again
 * at the end.
 */
export const measureAll = async (course: Course): Promise<Tally> => {
  const { groups, round, print } = course;
  print(heading);
  const outcomes: Outcome[] = [];
  const measureGroup = async (group: string): Promise<void> => {
    for (const [name, measurement] of Object.entries(groups[group] ?? {}))
      outcomes.push(await measure(name, group, measurement, course));
  };
  await inPlaces(Object.keys(groups), round.isShort ? groupsAtOnce : 1, measureGroup);
  const failed = outcomes.filter((outcome) => outcome !== "passed");
  if (failed.length > 0) for (const line of ["", "Failed", ...failed.map(({ row }) => row)]) print(line);
  return { passed: outcomes.length - failed.length, failed: failed.length };
};

type Outcome = "passed" | { row: string };

/** Makes one measurement; it failed where its row says why. */
const measure = async (name: string, group: string, measurement: Measurement, course: Course): Promise<Outcome> => {
  const { round, print, keep, withinMs } = course;
  const printed: JudgedFigure[] = [];
  const pushUs = await round.pushUs(); // CPU and rates are judged by it
  const tell = (...figures: Figure[]): void => {
    for (const one of figures) {
      if (!Number.isFinite(one.value)) throw new Error(`${one.name}: no number came of it (${one.how})`);
      const judged = judge(one, pushUs);
      printed.push(judged);
      print(rowOf(judged, round.isShort));
    }
  };
  try {
    await bounded(measurement(round, tell), withinMs);
    return "passed";
  } catch (error) {
    const row = failedRow(name, reasonOf(error));
    print(row);
    return { row };
  } finally {
    if (printed.length > 0) keep(group, printed);
  }
};

/** Gives up what takes too long, and what throws beside all that is awaited: that would end the process. */
const bounded = async (work: Promise<void>, withinMs: number): Promise<void> => {
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not over after ${withinMs / 1_000} s`)), withinMs);
  process.on("uncaughtException", reject);
  try {
    await Promise.race([work, givenUp]);
  } finally {
    clearTimeout(timer);
    process.off("uncaughtException", reject);
  }
};

/** What an error says, and what caused it: `fetch` alone says that it failed. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
};
