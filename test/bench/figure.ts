/** One measured figure and what it should reach. */
export type Figure = { name: string; reach: Reach; value: number; unit: string; how: string };

export type Reach = { is: "at least" | "at most"; value: number };

export const atLeast = (value: number): Reach => ({ is: "at least", value });
export const atMost = (value: number): Reach => ({ is: "at most", value });

/** A figure as it is printed and kept. */
export type JudgedFigure = Omit<Figure, "reach"> & { reach: string; isReached: boolean };

export const judge = ({ reach, ...figure }: Figure): JudgedFigure => {
  const isAtLeast = reach.is === "at least";
  return {
    ...figure,
    reach: `${isAtLeast ? "≥" : "≤"} ${reach.value} ${figure.unit}`,
    isReached: isAtLeast ? figure.value >= reach.value : figure.value <= reach.value,
  };
};
