import type { JudgedFigure } from "./figure.ts";

const widths = [74, 12, 12, 12, 11] as const; // of all but the last, which is how it was measured

const row = (...cells: string[]): string =>
  cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join("  ")
    .trimEnd();

export const heading = row("figure", "reach", "measured", "scaled", "", "how");

/** A figure as a row of the table. A short round's says nothing about what is reached. */
export const rowOf = (figure: JudgedFigure, isShort: boolean): string => {
  const { name, reach, value, scaled, unit, isReached, how } = figure;
  const verdict = isReached ? "reached" : "NOT REACHED";
  const values = [`${shown(value)} ${unit}`, scaled === undefined ? "" : `${shown(scaled)} ${unit}`];
  return row(name, reach, ...values, isShort ? "tried" : verdict, how);
};

/** A measurement that came to nothing; further lines of the reason stand below its row. */
export const failedRow = (name: string, reason: string): string => {
  const [first = "", ...rest] = reason.split("\n");
  return [row(name, "", "", "", "FAILED", first), ...rest.map((line) => `    ${line}`)].join("\n");
};

const shown = (value: number): string => value.toFixed(value >= 100 ? 0 : value >= 1 ? 1 : 2);
