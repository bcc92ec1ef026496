import type { Line } from "./line.ts";

/** Lines of several pods that wait to be printed in the order of time. */
export type Merge = {
  add: (line: Line) => void;
  /** Those that were written before an instant, in order; earlier ones do not come any more, as a rule. */
  until: (ms: number) => Line[];
};

const mostWaiting = 50_000; // lines: pods that write faster are printed as they come

/** Keeps lines back for a moment, so that a pod whose lines come late still stands in its place. */
export const merge = (): Merge => {
  let waiting: Line[] = [];
  return {
    add: (line) => void waiting.push(line),
    until: (ms) => {
      const isDue = ({ atMs }: Line): boolean => atMs <= ms || waiting.length > mostWaiting;
      const due = waiting.filter(isDue);
      waiting = waiting.filter((line) => !isDue(line));
      return due.sort((a, b) => a.atMs - b.atMs);
    },
  };
};
