import { userLimits } from "../../schema/people/user.ts";
import { plainCell } from "../exports/csv.ts";
import { isReservedId } from "../people/reserved-ids.ts";
import { isTimeZone } from "../time-zone.ts";
import type { Read } from "./cells.ts";
import type { Columns } from "./header.ts";

/** The cells of a row by the names of their columns; "" for a column that the file does not have. */
export type Cells = { cell: (name: string) => string; names: readonly string[] };

export const cellsOf = (columns: Columns, row: readonly string[]): Cells => ({
  cell: (name) => {
    const at = columns.get(name);
    return at === undefined ? "" : plainCell(row[at] ?? "");
  },
  names: [...columns.keys()],
});

/** Collects what of a row could not be read. */
export type Notes = ReturnType<typeof noteTaker>;

export const noteTaker = () => {
  const all: string[] = [];
  return {
    all,
    add: (note: string): void => void all.push(note),
    /** The value; what is wrong with it is noted under the column's name. */
    take: <T>(column: string, { value, problem }: Read<T>): T | undefined => {
      if (problem !== null) all.push(`${column} ${problem}`);
      return value;
    },
  };
};

/** Whether a text can be the id of one user. Source: docs/reference/people.md#reserved-ids. */
export const isId = (id: string): boolean => id.length <= 255 && !isReservedId(id);

const mostZones = 2_000;
const zones = new Map<string, boolean>(); // aliases take long to look up, and a file has few of them

/** The zone of that IANA name; null when there is none. */
export const zoneOf = (name: string): string | null => {
  if (name === "" || name.length > 64) return null;
  const isKnown = zones.get(name) ?? isTimeZone(name);
  if (zones.size < mostZones) zones.set(name, isKnown);
  return isKnown ? name : null;
};

const longestDeviceText = 200;

/** What is known of a device, without what is empty. */
export const deviceOf = (members: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value = ""]) => {
      const text = value.trim().slice(0, longestDeviceText);
      return text === "" ? [] : [[name, text]];
    }),
  );

const memberName = /^[^.$\0][^.\0]{0,127}$/; // a path in the store
const longestTag = 1024;

/** Why a name cannot be one of a tag or property; null when it can. */
export const nameProblem = (name: string): string | null =>
  memberName.test(name) ? null : `${JSON.stringify(name.slice(0, 64))} is no name of a tag or property`;

/** The text of a tag: numbers and booleans are written out, "" is no text. */
export const tagOf = (name: string, value: unknown): Read<string> => {
  const shown = `the tag ${JSON.stringify(name.slice(0, 64))}`;
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
    return { value: undefined, problem: `${shown} is no text` };
  const text = String(value);
  if (text.length > longestTag) return { value: undefined, problem: `${shown} is longer than ${longestTag}` };
  const problem = nameProblem(name);
  return { value: problem === null ? text : undefined, problem };
};

/** Why a user cannot have these; null when they can. Source: docs/reference/limits.md#people. */
export const mapsProblem = (tags: object, properties: object): string | null => {
  if (Object.keys(tags).length > userLimits.tags) return `a user has at most ${userLimits.tags} tags`;
  if (Object.keys(properties).length > userLimits.properties)
    return `a user has at most ${userLimits.properties} properties`;
  return JSON.stringify(properties).length > userLimits.propertyCharacters
    ? `properties are at most ${userLimits.propertyCharacters} characters of JSON in all`
    : null;
};
