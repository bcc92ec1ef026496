/**
 * One measured figure and what it should reach. What is in µs is an amount of CPU, what is in /s a rate of work. `pushUs` is
 * what a bare push cost when it was measured, where that is known better than for the whole measurement.
 */
export type Figure = { name: string; reach: Reach; value: number; unit: string; how: string; pushUs?: number };

export type Reach = { is: "at least" | "at most"; value: number };

export const atLeast = (value: number): Reach => ({ is: "at least", value });
export const atMost = (value: number): Reach => ({ is: "at most", value });

/** A figure as it is printed and kept. `scaled` is the value that it is judged by, where it is not the measured one. */
export type JudgedFigure = Omit<Figure, "reach"> & { reach: string; scaled?: number; isReached: boolean };

/** CPU of one push by node:http2 alone, µs, on the machine that CPU and rates are to be reached on. */
export const reachPushUs = 32;

/**
 * Judges a figure that was measured on a machine where such a push costs `usualPushUs`. CPU and rates are scaled, as machines
 * differ from day to day; times are not, as most of a time is spent waiting.
 */
export const judge = ({ reach, ...figure }: Figure, usualPushUs: number): JudgedFigure => {
  const { unit, value, pushUs = usualPushUs } = figure;
  const scaled = scales[unit]?.(value, pushUs / reachPushUs);
  const by = scaled ?? value;
  const isAtLeast = reach.is === "at least";
  return {
    ...figure,
    ...(scaled === undefined ? {} : { scaled }),
    reach: `${isAtLeast ? "≥" : "≤"} ${reach.value} ${unit}`,
    isReached: isAtLeast ? by >= reach.value : by <= reach.value,
  };
};

/** By unit; `slower` is how many times as much CPU this machine needs. */
const scales: Record<string, (value: number, slower: number) => number> = {
  µs: (cpuUs, slower) => cpuUs / slower,
  "/s": (perSecond, slower) => perSecond * slower,
};
