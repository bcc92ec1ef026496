import { type FilterOp, filterUnits } from "../../schema/segments/filter.ts";
import type { Stored } from "./fields.ts";
import { kinds } from "./kinds.ts";
import { boxAround, type Circle } from "./place.ts";
import type { Condition, FilterTree } from "./tree.ts";

/** A condition on stored documents, in the query language of MongoDB; `{}` lets everything through. */
export type Query = Record<string, unknown>;

/**
 * The part of a filter that the store can judge: who passes the filter is found by it always, others may be too. So a scan
 * reads less, and the function of {@link compileFilter} still decides. `memberQuery` says the same of a segment that it names.
 */
export const preFilter = (
  tree: FilterTree,
  of: Stored["of"],
  now: Date,
  memberQuery: (segmentId: string) => Query = everything,
): Query => {
  if (tree.kind === "condition") {
    if (tree.op === "member") return memberQuery(String(tree.value));
    return tree.field.stored?.of === of ? conditionQuery(tree, tree.field.stored, now) : {};
  }
  const parts = tree.of.map((one) => preFilter(one, of, now, memberQuery));
  if (tree.match === "none") return {}; // the opposite of a part that finds too many would find too few
  return joined(tree.match, parts);
};

/** Queries of which all, or any, must match. */
export const joined = (match: "all" | "any", parts: readonly Query[]): Query => {
  const narrowing = parts.filter((part) => Object.keys(part).length > 0);
  if (match === "all" && narrowing.length > 0) return { $and: narrowing };
  if (match === "any" && parts.length > 0 && narrowing.length === parts.length) return { $or: narrowing };
  return {};
};

type ConditionRead = { condition: Condition; stored: Stored; now: Date };

const conditionQuery = (condition: Condition, stored: Stored, now: Date): Query =>
  queries[condition.op]({ condition, stored, now });

/** A list with a null in it is not null to us, and is to the store: so it is only asked whether something is there. */
const thereQuery = ({ stored: { path, isNeverNull } }: ConditionRead): Query =>
  isNeverNull ? {} : { [path]: { $exists: true } };

/** In the lists of a property the store looks otherwise. */
const absentQuery = ({ condition: { field }, stored: { path } }: ConditionRead): Query =>
  field.kind === "json" ? {} : { [path]: null };

const everything = (): Query => ({});

/** Where two spellings can be equal, the store cannot find all of them. */
const valuesQuery = (asked: ConditionRead, values: readonly unknown[]): Query => {
  const { condition, stored } = asked;
  const { kind } = condition.field;
  const { path, aliasLabel: label } = stored;
  const keys = values.map(kinds[kind].key);
  if (label !== undefined) return { alias_keys: { $in: keys.map((id) => `${label}:${String(id)}`) } };
  if (kind === "date") return { [path]: { $in: keys.map((key) => new Date(Number(key))) } };
  const isExact = exactKinds.has(kind) || (kind === "tag" && keys.every((key) => typeof key === "string"));
  return isExact ? { [path]: { $in: keys } } : thereQuery(asked);
};

const exactKinds: ReadonlySet<string> = new Set(["text", "choice", "flag"]);

/** A query for dates; other kinds have an order that the store does not know. */
const ordered =
  (rangeOf: (value: unknown, at: (one: unknown) => Date) => object) =>
  (asked: ConditionRead): Query => {
    const { condition, stored, now } = asked;
    const { field, value } = condition;
    if (field.kind !== "date") return thereQuery(asked);
    const at = (one: unknown): Date => (one === "now" ? now : new Date(Number(kinds.date.key(one))));
    return { [stored.path]: rangeOf(value, at) };
  };

const above = ordered((value, at) => ({ $gt: at(value) }));
const below = ordered((value, at) => ({ $lt: at(value) }));

const listOf = (value: unknown): unknown[] => value as unknown[]; // sound: the parser has seen to it

const spanQuery = ordered((value, at) => {
  const { amount, unit } = value as { amount: number; unit: keyof typeof filterUnits }; // sound: the parser has seen to it
  const now = at("now");
  return { $gte: new Date(now.getTime() - amount * filterUnits[unit]), $lte: now };
});

const circleQuery = ({ condition: { value }, stored: { path } }: ConditionRead): Query => {
  const { lat, long } = boxAround(value as Circle); // sound: the parser has seen to it
  const ranges = long.map(([$gte, $lte]) => ({ [`${path}.long`]: { $gte, $lte } }));
  return joined("all", [{ [`${path}.lat`]: { $gte: lat[0], $lte: lat[1] } }, joined("any", ranges)]);
};

const queries: Record<FilterOp, (asked: ConditionRead) => Query> = {
  eq: (asked) => valuesQuery(asked, [asked.condition.value]),
  in: (asked) => valuesQuery(asked, listOf(asked.condition.value)),
  neq: everything,
  not_in: everything,
  gt: above,
  gte: ordered((value, at) => ({ $gte: at(value) })),
  lt: below,
  lte: ordered((value, at) => ({ $lte: at(value) })),
  between: ordered((value, at) => ({ $gte: at(listOf(value)[0]), $lte: at(listOf(value)[1]) })),
  contains: thereQuery,
  not_contains: everything,
  starts_with: thereQuery,
  ends_with: thereQuery,
  exists: thereQuery,
  not_exists: absentQuery,
  within_last: spanQuery,
  not_within_last: everything,
  before: below,
  after: above,
  time_elapsed_gt: thereQuery,
  time_elapsed_lt: thereQuery,
  within_radius: circleQuery,
  member: everything,
  not_member: everything,
  performed: everything,
  not_performed: everything,
};
