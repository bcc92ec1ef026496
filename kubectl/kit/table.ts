import { styleText } from "node:util";
import type { Terminal } from "./command.ts";

/** A cell, and the colour that it has where there are any. */
export type Cell = string | { text: string; colour: "green" | "red" | "yellow" | "dim" };

const gap = "   ";

/** Rows in columns below their heads, as kubectl prints them; the last column is cut where the terminal ends. */
export const table = (heads: readonly string[], rows: readonly (readonly Cell[])[], terminal: Terminal): string => {
  const widths = heads.map((head, n) => Math.max(head.length, ...rows.map((row) => textOf(row[n] ?? "").length)));
  const line = (cells: readonly Cell[]): string => {
    const padded = cells.map((cell, n) => shown(cell, n === cells.length - 1 ? 0 : (widths[n] ?? 0), terminal));
    return padded.join(gap).trimEnd();
  };
  const room = terminal === null ? Number.POSITIVE_INFINITY : terminal.columns - lastBegins(widths);
  const cut = (row: readonly Cell[]): Cell[] =>
    row.map((cell, n) => (n === heads.length - 1 ? shortened(cell, room) : cell));
  return `${[line(heads), ...rows.map((row) => line(cut(row)))].join("\n")}\n`;
};

const lastBegins = (widths: readonly number[]): number =>
  widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0);

const textOf = (cell: Cell): string => (typeof cell === "string" ? cell : cell.text);

const leastShown = 20; // characters of the last column, however narrow the terminal is

const shortened = (cell: Cell, room: number): Cell => {
  const [text, most] = [textOf(cell), Math.max(room, leastShown)];
  if (text.length <= most) return cell;
  const short = `${text.slice(0, most - 1)}…`;
  return typeof cell === "string" ? short : { ...cell, text: short };
};

const shown = (cell: Cell, width: number, terminal: Terminal): string => {
  const padded = textOf(cell).padEnd(width);
  if (typeof cell === "string" || terminal?.hasColours !== true) return padded;
  return styleText(cell.colour, padded, { validateStream: false });
};
