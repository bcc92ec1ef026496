/** One measured figure beside what it should reach. */
export type Figure = {
  name: string;
  /** What is wanted, as a person would say it. */
  reach: string;
  value: number;
  unit: string;
  isReached: boolean;
  how: string;
};

export const figure = (...[name, reach, value, unit, isReached, how]: FigureMembers): Figure => ({
  name,
  reach,
  value,
  unit,
  isReached,
  how,
});

type FigureMembers = [name: string, reach: string, value: number, unit: string, isReached: boolean, how: string];

/** Measurements whose figures are kept together in one baseline, each by the name that asks for it. */
export type Measurements = Record<string, () => Promise<Figure[]>>;

const shown = (value: number): string => value.toFixed(value >= 100 ? 0 : value >= 1 ? 1 : 2);

/** The figures as a table of fixed columns. */
export const table = (figures: readonly Figure[]): string => {
  const rows = [
    ["figure", "reach", "measured", "", "how"],
    ...figures.map(({ name, reach, value, unit, isReached, how }) => [
      name,
      reach,
      `${shown(value)} ${unit}`,
      isReached ? "reached" : "NOT REACHED",
      how,
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
};
