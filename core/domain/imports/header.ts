import type { ImportType } from "../../schema/imports/import.ts";

/** Where the columns of a file are, by their names in lower case. */
export type Columns = ReadonlyMap<string, number>;

export type Header = { ok: true; columns: Columns } | { ok: false; problem: string };

/**
 * Reads the first row of a file. Columns are known by name, in any order and case. Those of the third-party system that
 * mean nothing here are passed over; a `csv_users` file has only columns that we know, so that a misspelt one is no silent
 * loss. Source: docs/reference/imports.md#columns.
 */
export const headerOf = (type: ImportType, cells: readonly string[]): Header => {
  const names = cells.map((cell) => nameOf(type, cell.trim()));
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  if (twice !== undefined) return { ok: false, problem: `has the column ${shown(twice)} twice` };
  const columns = new Map(names.map((name, i) => [name, i]));
  const problem = type === "csv_users" ? usersProblem(columns) : playersProblem(columns);
  return problem === null ? { ok: true, columns } : { ok: false, problem };
};

/** What follows `tag.` and `property.` is the app's own name, and keeps its case. */
const nameOf = (type: ImportType, cell: string): string => {
  const [, kind, rest] = /^(tag|property)\.(.*)$/is.exec(cell) ?? [];
  if (type === "csv_users" && kind !== undefined) return `${kind.toLowerCase()}.${rest}`;
  return cell.toLowerCase();
};

const playersProblem = (columns: Columns): string | null => {
  const missing = ["identifier", "device_type"].filter((name) => !columns.has(name));
  return missing.length === 0 ? null : `has no column ${missing.join(", ")}: it is no export of that system`;
};

const usersColumns = new Set([
  "external_id",
  "channel",
  "token",
  "status",
  "language",
  "timezone",
  "tags",
  "properties",
  "session_count",
  "first_seen_at",
  "last_active_at",
  "id", // of our own exports; it means nothing here
  "created_at", // of our own exports, too
]);

const usersProblem = (columns: Columns): string | null => {
  const unknown = [...columns.keys()].find((name) => !usersColumns.has(name) && !ownName.test(name));
  if (unknown !== undefined) return `has an unknown column ${shown(unknown)}`;
  if (columns.has("token") !== columns.has("channel")) return "has only one of the columns channel and token";
  return columns.has("external_id") || columns.has("token") ? null : "has no column external_id, nor channel and token";
};

const ownName = /^(tag|property)\.[^.$\0][^.\0]{0,127}$/;

/** The name of a column in a message. */
const shown = (name: string): string => JSON.stringify(name.slice(0, 64));
