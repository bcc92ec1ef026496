/** How many took about how long: counts by class, the logarithm of the milliseconds to the base of a ratio, rounded. */
export type Classes = readonly { class: number; count: number }[];

/** How much longer than the class before: what a class says is off by 2 % at most. */
export const classRatio = 1.04;

/** The time, ms, within which this part of them were done; null of none. */
export const percentileOf = (classes: Classes, part: number): number | null => {
  const all = classes.reduce((sum, { count }) => sum + count, 0);
  let rest = Math.ceil(all * part);
  for (const one of classes.toSorted((a, b) => a.class - b.class)) {
    rest -= one.count;
    if (rest <= 0) return Math.round(classRatio ** one.class);
  }
  return null;
};

/** The class of a time, ms. */
export const classOf = (ms: number): number => Math.round(Math.log(Math.max(1, ms)) / Math.log(classRatio));
