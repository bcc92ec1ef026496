import type { FieldError } from "../../errors.ts";
import type { EventEnvelope } from "../../schema/events/envelope.ts";
import { type FilterCondition, filterOps, type WebhookFilters } from "../../schema/webhooks/filters.ts";

type FilterOp = FilterCondition["op"];

/**
 * The conditions for which an event is not sent; empty when it passes. With `all` these are the false ones, with `any`
 * every one when none is true, with `none` the true ones. Source: docs/reference/webhooks.md#filters.
 */
export const failedConditions = (filters: WebhookFilters | null, event: EventEnvelope): FilterCondition[] => {
  if (filters === null || passes(filters, event)) return [];
  const { match, conditions } = filters;
  if (match === "any") return conditions;
  return conditions.filter((condition) => isTrue(condition, event) === (match === "none"));
};

/** Whether an endpoint with these filters is sent an event. */
export const passes = (filters: WebhookFilters | null, event: EventEnvelope): boolean => {
  if (filters === null) return true;
  const { match, conditions } = filters;
  if (match === "all") return conditions.every((condition) => isTrue(condition, event));
  return conditions.some((condition) => isTrue(condition, event)) === (match === "any");
};

/**
 * Whether one condition is true. A missing value, and null is one, makes positive ops false and `neq`, `not_in`,
 * `not_contains`, `not_exists` true.
 */
const isTrue = ({ field, op, value }: FilterCondition, event: EventEnvelope): boolean => {
  const found = valueAt(field, event);
  switch (op) {
    case "eq":
      return isEqual(found, value);
    case "neq":
      return !isEqual(found, value);
    case "gt":
      return order(found, value) > 0;
    case "gte":
      return order(found, value) >= 0;
    case "lt":
      return order(found, value) < 0;
    case "lte":
      return order(found, value) <= 0;
    case "between":
      return isList(value) && order(found, value[0]) >= 0 && order(found, value[1]) <= 0;
    case "in":
      return isOneOf(found, value);
    case "not_in":
      return !isOneOf(found, value);
    case "contains":
      return contains(found, value);
    case "not_contains":
      return !contains(found, value);
    case "starts_with":
      return isText(found) && isText(value) && found.startsWith(value);
    case "ends_with":
      return isText(found) && isText(value) && found.endsWith(value);
    case "exists":
      return found !== null;
    case "not_exists":
      return found === null;
    case "matches_event":
      return event.type === "event.received" && isList(value) && value.includes(found);
  }
};

/** A path that starts with another name is looked up in `data`. */
const envelopeMembers = new Set(["id", "type", "timestamp", "app_id", "subject_id", "data"]);

/** The value at a dot path, null when there is none. Only own members of objects and items of arrays are values. */
const valueAt = (path: string, event: EventEnvelope): unknown => {
  const names = path.split(".");
  let value: unknown = envelopeMembers.has(names[0] ?? "") ? event : event.data;
  for (const name of names) {
    value = memberOf(value, name);
    if (value === null) return null;
  }
  return value;
};

const memberOf = (value: unknown, name: string): unknown => {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
  if (isList(value) && name === "length") return null; // an own member, but no item
  return (value as Record<string, unknown>)[name] ?? null; // sound: it was just found
};

const isText = (value: unknown): value is string => typeof value === "string";

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

/** Texts are compared with their case; numbers by value, a numeric text with a number too; dates as instants. */
const isEqual = (found: unknown, wanted: unknown): boolean =>
  found !== null && (found === wanted || difference(found, wanted) === 0);

const isOneOf = (found: unknown, wanted: unknown): boolean =>
  isList(wanted) && wanted.some((item) => isEqual(found, item));

/** A part of a text, or an item of an array. */
const contains = (found: unknown, wanted: unknown): boolean => {
  if (isText(found)) return isText(wanted) && found.includes(wanted);
  return isList(found) && found.some((item) => isEqual(item, wanted));
};

/** Below, at or above 0; NaN when the two cannot be compared. */
const order = (found: unknown, wanted: unknown): number => {
  const byValue = difference(found, wanted);
  return Number.isNaN(byValue) ? versionOrder(found, wanted) : byValue;
};

const difference = (a: unknown, b: unknown): number => {
  if (typeof a === "number" || typeof b === "number") return numberOf(a) - numberOf(b);
  return instantOf(a) - instantOf(b);
};

const numberOf = (value: unknown): number => {
  if (typeof value === "number") return value;
  return isText(value) && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : Number.NaN;
};

/** Texts that have an order: dates, and versions. */
export const orderedTexts = (): RegExp[] => [isoDate, version];

const isoDate =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))?$/;

const instantOf = (value: unknown): number => (isText(value) && isoDate.test(value) ? Date.parse(value) : Number.NaN);

/** By numeric parts: 1.10 is above 1.9, and 1.0 is 1. */
const versionOrder = (found: unknown, wanted: unknown): number => {
  const [a, b] = [versionOf(found), versionOf(wanted)];
  if (a === null || b === null) return Number.NaN;
  const at = Array.from({ length: Math.max(a.length, b.length) }).findIndex((_, i) => (a[i] ?? 0) !== (b[i] ?? 0));
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
};

const version = /^\d{1,9}(\.\d{1,9}){0,4}$/;

const versionOf = (value: unknown): number[] | null =>
  isText(value) && version.test(value) ? value.split(".").map(Number) : null;

/** Bounds of a filter's values. Source: docs/reference/limits.md#webhook-bounds. */
export const filterLimits = { characters: 500, items: 500, bytes: 65_536 } as const;

/** What is wrong with a filter; with the ops that would take a value, when it is the op that does not fit. */
export type FilterProblem = FieldError & { allowed?: FilterOp[] };

/** What a schema cannot say of filters: that each op fits its value, and their bounds. `at` is where they stand. */
export const filterProblems = (filters: WebhookFilters, at: string): FilterProblem[] => {
  const problems = filters.conditions.flatMap((condition, i) => conditionProblems(condition, `${at}.conditions[${i}]`));
  if (problems.length > 0 || Buffer.byteLength(JSON.stringify(filters)) <= filterLimits.bytes) return problems;
  return [{ field: at, message: `must be at most ${filterLimits.bytes} bytes of JSON` }];
};

const conditionProblems = ({ field, op, value }: FilterCondition, at: string): FilterProblem[] => {
  const problems: FilterProblem[] = [];
  if (field.split(".").includes("")) problems.push({ field: `${at}.field`, message: "must be names joined by dots" });
  if (op === "matches_event" && field !== "name" && field !== "data.name")
    problems.push({ field: `${at}.field`, message: "must be name, the event's name, with matches_event" });
  const { fits, what } = takes[op];
  if (fits(value)) return problems;
  const allowed = filterOps.filter((other) => takes[other].fits(value));
  const place = allowed.length > 0 ? "op" : "value";
  return [...problems, { field: `${at}.${place}`, message: `${op} takes ${what}`, allowed }];
};

type Taken = { what: string; fits: (value: unknown) => boolean };

/** Characters are code points, as schemas count them: of one or two UTF-16 units each. */
const isShort = (value: unknown): value is string => {
  const most = filterLimits.characters;
  return isText(value) && (value.length <= most || (value.length <= 2 * most && Array.from(value).length <= most));
};

const isScalar = (value: unknown): boolean =>
  isShort(value) || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));

const isOrdered = (value: unknown): boolean => isScalar(value) && order(value, value) === 0;

const isListOf = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  isList(value) && value.length >= 1 && value.length <= filterLimits.items && value.every(fits);

const isRange = (value: unknown): boolean =>
  isList(value) && value.length === 2 && value.every(isOrdered) && order(value[0], value[1]) <= 0;

const nothing: Taken = { what: "no value", fits: (value) => value === undefined };
const text: Taken = { what: `a text of at most ${filterLimits.characters} characters`, fits: isShort };
const scalar: Taken = { what: `${text.what}, a number or a boolean`, fits: isScalar };
const ordered: Taken = { what: "a number, an ISO 8601 date with a zone, or a version such as 1.10", fits: isOrdered };
const list: Taken = {
  what: `a list of 1 to ${filterLimits.items} texts, numbers and booleans`,
  fits: (value) => isListOf(value, isScalar),
};
const range: Taken = { what: "[low, high] of numbers, dates or versions", fits: isRange };
const names: Taken = {
  what: `a list of 1 to ${filterLimits.items} event names`,
  fits: (value) => isListOf(value, (name) => isShort(name) && name !== ""),
};

const takes: Record<FilterOp, Taken> = {
  eq: scalar,
  neq: scalar,
  gt: ordered,
  gte: ordered,
  lt: ordered,
  lte: ordered,
  in: list,
  not_in: list,
  contains: scalar,
  not_contains: scalar,
  starts_with: text,
  ends_with: text,
  exists: nothing,
  not_exists: nothing,
  between: range,
  matches_event: names,
};
