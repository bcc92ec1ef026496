import { type FilterOp, filterLimits, filterUnits, mostRadiusM } from "../../schema/segments/filter.ts";
import type { Field, ValueProblem } from "./fields.ts";
import { historyProblem } from "./history.ts";
import { type Kind, kinds } from "./kinds.ts";
import { placeOf } from "./place.ts";

/** What a value of a condition lacks for its op and field; null when it fits. */
export const valueProblem = (field: Field, op: FilterOp, value: unknown): ValueProblem | null =>
  takes[op](value, field, kinds[field.kind]);

type Taken = (value: unknown, field: Field, kind: Kind) => ValueProblem | null;

const must = (what: string, at = ""): ValueProblem => ({ at, message: `must be ${what}` });

/** Characters are code points: of one or two UTF-16 units each. */
const isShort = (text: string): boolean =>
  text.length <= filterLimits.characters ||
  (text.length <= 2 * filterLimits.characters && Array.from(text).length <= filterLimits.characters);

const scalar: Taken = (value, { values }, { key, what }) => {
  const isKey = typeof value !== "object" && key(value) !== null && (typeof value !== "string" || isShort(value));
  if (!isKey) return must(what);
  return values === undefined || values.some((one) => one === value) ? null : must("one of its values");
};

const ordered: Taken = (value, _field, { rank, ordered: what = "" }) =>
  typeof value !== "object" && rank !== undefined && rank(value) !== null ? null : must(what);

const list: Taken = (value, field, kind) => {
  if (!Array.isArray(value) || value.length === 0 || value.length > filterLimits.items)
    return must(`a list of 1 to ${filterLimits.items} values`);
  const i = value.findIndex((item) => scalar(item, field, kind) !== null);
  return i < 0 ? null : { at: `[${i}]`, message: scalar(value[i], field, kind)?.message ?? "" };
};

const range: Taken = (value, field, kind) => {
  if (!Array.isArray(value) || value.length !== 2) return must("a list of two values, [low, high]");
  const i = value.findIndex((item) => ordered(item, field, kind) !== null);
  if (i >= 0) return must(kind.ordered ?? "", `[${i}]`);
  const [low, high] = value.map((item) => kind.rank?.(item) ?? 0);
  return low !== undefined && high !== undefined && low > high
    ? must("[low, high] with low first: nobody is between")
    : null;
};

const text: Taken = (value) =>
  typeof value === "string" && value !== "" && isShort(value)
    ? null
    : must(`a text of 1 to ${filterLimits.characters} characters`);

/** A part of a text, or an item of a list. */
const part: Taken = (value, field, kind) =>
  field.kind === "json" && value !== "" ? scalar(value, field, kind) : text(value, field, kind);

const nothing: Taken = (value) => (value === undefined ? null : { at: "", message: "must be left out with this op" });

const mostUnits = 100_000; // minutes: 69 days; weeks: 1,900 years

const span: Taken = (value) => {
  const wrong = must(`{"amount": 1–${mostUnits}, "unit": ${Object.keys(filterUnits).join(" | ")}}`);
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 2) return wrong;
  const { amount, unit } = value as { amount?: unknown; unit?: unknown }; // sound: members of an object
  const isAmount = typeof amount === "number" && Number.isInteger(amount) && amount >= 1 && amount <= mostUnits;
  return isAmount && typeof unit === "string" && Object.hasOwn(filterUnits, unit) ? null : wrong;
};

const seconds: Taken = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? null : must("a number of seconds, at least 0");

const instantOrNow: Taken = (value, field, kind) => (value === "now" ? null : ordered(value, field, kind));

/** An id or a name; which segments there are is not known here. */
const segment: Taken = (value, _field, { what }) =>
  typeof value === "string" && value !== "" && isShort(value) ? null : must(what);

const circle: Taken = (value, _field, { what }) => {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 3) return must(what);
  const { radius_m: radius } = value as { radius_m?: unknown }; // sound: a member of an object
  if (placeOf(value) === null) return must(what);
  const isRadius = typeof radius === "number" && radius >= 1 && radius <= mostRadiusM;
  return isRadius ? null : must(`a number of metres, 1 to ${mostRadiusM}`, ".radius_m");
};

const performance: Taken = (value, field) => historyProblem(value, field, valueProblem);

const takes: Record<FilterOp, Taken> = {
  eq: scalar,
  neq: scalar,
  gt: ordered,
  gte: ordered,
  lt: ordered,
  lte: ordered,
  between: range,
  in: list,
  not_in: list,
  contains: part,
  not_contains: part,
  starts_with: text,
  ends_with: text,
  exists: nothing,
  not_exists: nothing,
  within_last: span,
  not_within_last: span,
  before: instantOrNow,
  after: instantOrNow,
  time_elapsed_gt: seconds,
  time_elapsed_lt: seconds,
  within_radius: circle,
  member: segment,
  not_member: segment,
  performed: performance,
  not_performed: performance,
};
