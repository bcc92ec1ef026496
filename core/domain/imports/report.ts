import type { ImportType } from "../../schema/imports/import.ts";
import { byteOrderMark, cellText } from "../exports/csv.ts";
import type { CsvRow } from "./csv.ts";
import type { Columns } from "./header.ts";

/** A line of the report: what is wrong with a row, or why it makes nothing. `line` is the row's own, the header's is 1. */
export type Finding = { line: number; error: string; row: string };

/** What a report begins with. */
export const reportHead = `${byteOrderMark}line,error,row\r\n`;

/** Characters of a row in the report; more helps nobody to find it. */
export const longestText = 2_000;

/** Lines of the report (RFC 4180), safe to open in a spreadsheet. */
export const reportLines = (findings: readonly Finding[]): string =>
  findings
    .map(({ line, error, row }) => [line, error, row.slice(0, longestText)])
    .map((cells) => `${cells.map((cell) => plainOrQuoted(cellText(cell))).join(",")}\r\n`)
    .join("");

const tokenColumns: Record<ImportType, readonly string[]> = {
  csv_users: ["token"],
  thirdparty_players: ["identifier", "web_auth", "web_p256", "ip", "location", "ad_id"],
};

/** A row as the report shows it: its address masked. Where the cells are out of place, whatever may be one is masked. */
export const shownRow = (type: ImportType, columns: Columns, { cells, fault }: CsvRow): string => {
  const isInPlace = fault === null && cells.length === columns.size;
  const hidden = new Set(tokenColumns[type].map((name) => columns.get(name)));
  return cells
    .map((cell, i) => plainOrQuoted((isInPlace ? hidden.has(i) : mayBeToken(cell)) ? masked(cell) : cell))
    .join(",");
};

const mayBeToken = (cell: string): boolean => cell.length > 24 || cell.includes("@") || /\d{6}/.test(cell);

/** What recognises it, too little to use it: of a mail address its domain, of anything else its end. */
const masked = (cell: string): string => {
  if (cell === "") return "";
  const at = cell.lastIndexOf("@");
  if (at > 0) return `${cell.slice(0, 1)}•••${cell.slice(at)}`;
  return `•••${cell.slice(cell.length - Math.min(8, Math.floor(cell.length / 4)))}`;
};

const plainOrQuoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
