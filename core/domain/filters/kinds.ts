import { type FilterOp, filterLimits } from "../../schema/segments/filter.ts";

/** What a value is compared by: equal keys are equal values. */
type Key = string | number | boolean;

/** A kind of value: which ops can be asked of it, and how values are compared. */
export type Kind = {
  /** A value to compare with, in words. */
  what: string;
  ops: readonly FilterOp[];
  /** Null for what is no value of this kind: nothing is equal to that. */
  key: (value: unknown) => Key | null;
  /** Where values have an order. Null for what has no place in it. */
  rank?: (value: unknown) => string | number | null;
  /** What can be put in order, in words. */
  ordered?: string;
};

const equality = ["eq", "neq", "in", "not_in", "exists", "not_exists"] as const;
const order = ["gt", "gte", "lt", "lte", "between"] as const;
const parts = ["contains", "not_contains", "starts_with", "ends_with"] as const;
const elapsed = ["time_elapsed_gt", "time_elapsed_lt"] as const;
const dates = ["within_last", "not_within_last", "before", "after"] as const;

const text = `a text of at most ${filterLimits.characters} characters`;

/**
 * A number, or a text that is one as JSON writes it, with at most 15 digits: so many are exact in a double. Others, such as
 * `007`, are texts.
 */
const numberOf = (value: unknown): number | null => {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string" || value.length > 24 || !jsonNumber.test(value)) return null;
  const [digits = ""] = value.split(/[eE]/);
  const number = Number(value);
  return digits.replaceAll(/\D/g, "").length <= 15 && Number.isFinite(number) ? number : null;
};

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;

/** A version by its numeric parts: what follows a `-`, `+` or space is left out, and so are zeros at the end. */
const versionOf = (value: unknown): string | null => {
  if (typeof value !== "string" || value.length > 200) return null;
  const [, numbers] = /^(\d{1,9}(?:\.\d{1,9}){0,7})(?:[-+ ].*)?$/.exec(value) ?? [];
  if (numbers === undefined) return null;
  const padded = numbers.split(".").map((part) => part.padStart(9, "0"));
  return padded.slice(0, padded.findLastIndex((part) => Number(part) > 0) + 1).join(".");
};

const isoInstant = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)$/;

const instantOf = (value: unknown): number | null => {
  const at = value instanceof Date ? value.getTime() : readInstant(value);
  return Number.isNaN(at) ? null : at;
};

const readInstant = (value: unknown): number =>
  typeof value === "string" && isoInstant.test(value) ? Date.parse(value) : Number.NaN;

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
const isScalar = (value: unknown): value is Key =>
  typeof value === "string" || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));

/** The kinds of values by name, as docs/reference/filters.md has them. */
export const kinds = {
  text: { what: text, ops: [...equality, ...parts], key: textOf },
  "text without case": {
    what: text,
    ops: [...equality, ...parts],
    key: (value) => textOf(value)?.toLowerCase() ?? null,
  },
  tag: {
    what: `${text}, a number or a boolean`,
    ops: [...equality, ...order, ...parts, ...elapsed],
    key: (value) => numberOf(value) ?? (isScalar(value) ? String(value) : null), // tags are kept as texts
    rank: numberOf,
    ordered: "a number",
  },
  json: {
    what: `${text}, a number or a boolean`,
    ops: [...equality, ...order, ...parts, ...elapsed],
    key: (value) => (isScalar(value) ? value : null),
    rank: (value) => (typeof value === "number" && Number.isFinite(value) ? value : null),
    ordered: "a number",
  },
  number: {
    what: "a number",
    ops: [...equality, ...order],
    key: (value) => (typeof value === "number" && Number.isFinite(value) ? value : null),
    rank: (value) => (typeof value === "number" && Number.isFinite(value) ? value : null),
    ordered: "a number",
  },
  date: {
    what: "an ISO 8601 date and time with a zone, such as 2026-01-31T09:00:00Z",
    ops: [...equality, ...order, ...dates],
    key: instantOf,
    rank: instantOf,
    ordered: "an ISO 8601 date and time with a zone, such as 2026-01-31T09:00:00Z",
  },
  version: {
    what: "a version such as 1.10",
    ops: [...equality, ...order],
    key: versionOf,
    rank: versionOf,
    ordered: "a version such as 1.10",
  },
  flag: {
    what: "true or false",
    ops: ["eq", "neq", "exists", "not_exists"],
    key: (value) => (typeof value === "boolean" ? value : null),
  },
  choice: { what: "one of its values", ops: equality, key: textOf },
  place: {
    what: '{"lat": -90–90, "long": -180–180, "radius_m": 1–500000}',
    ops: ["within_radius", "exists", "not_exists"],
    key: () => null,
  },
  segment: { what: "the id or the name of a segment", ops: ["member", "not_member"], key: textOf },
  history: {
    what: 'left out, or {"count": {"op", "value"}, "within_days": 1–365, "where": [{"property", "op", "value"}]}',
    ops: ["performed", "not_performed"],
    key: (value) => (typeof value === "number" ? value : null),
  },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;

/** The number of seconds since 1970 that a tag or property holds; null for anything else. */
export const unixTimeOf = numberOf;
