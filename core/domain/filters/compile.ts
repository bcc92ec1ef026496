import { filterUnits } from "../../schema/segments/filter.ts";
import { countOf, historyAsk } from "./history.ts";
import { type Kind, kinds, unixTimeOf } from "./kinds.ts";
import { type Positive, positiveOf } from "./negation.ts";
import { type Circle, distanceM, placeOf } from "./place.ts";
import { factsOf, type Subject } from "./subject.ts";
import type { Condition, FilterTree } from "./tree.ts";

/** Whether somebody passes a filter. */
export type Passes = (subject: Subject) => boolean;

/**
 * What is taken for true before the facts are read that a filter asks for: that each condition on them `passes`, or that each
 * `fails`. With `passes` nobody is lost who passes; with `fails` nobody is found who does not.
 */
export type Assumed = "passes" | "fails";

/** Who passes a segment, by its id. */
export type MemberOf = (segmentId: string, assumed?: Assumed) => Passes;

const noSegments: MemberOf = (id) => {
  throw new RangeError(`nobody said who is in the segment ${id}`);
};

/**
 * Makes a filter a function: the truth about who passes. `now` is the instant that conditions on time are judged at. A
 * filter that asks about subscriptions is asked with each of a person's. `memberOf` gives the functions of the segments that
 * it names. Source: docs/reference/filters.md.
 */
export const compileFilter = (
  tree: FilterTree,
  now: Date,
  memberOf: MemberOf = noSegments,
  assumed?: Assumed,
): Passes => {
  if (tree.kind === "condition") return compileCondition(tree, now, memberOf, assumed);
  const below = tree.match === "none" ? opposite(assumed) : assumed;
  const of = tree.of.toSorted((a, b) => costOf(a) - costOf(b)).map((one) => compileFilter(one, now, memberOf, below));
  switch (tree.match) {
    case "all":
      return (subject) => of.every((passes) => passes(subject));
    case "any":
      return (subject) => of.some((passes) => passes(subject));
    case "none":
      return (subject) => !of.some((passes) => passes(subject));
  }
};

const opposite = (assumed: Assumed | undefined): Assumed | undefined =>
  assumed && (assumed === "passes" ? "fails" : "passes");

/** The cheapest are asked first. */
const costOf = (tree: FilterTree): number => {
  if (tree.kind === "group") return tree.of.reduce((sum, one) => sum + costOf(one), 1);
  if (tree.name === "random") return 10; // a hash
  if (tree.name === "phone.country") return 30; // a number is read
  if (tree.name === "segment") return 20; // a filter of its own
  return tree.field.kind === "place" || tree.field.kind === "version" || tree.field.kind === "tag" ? 3 : 1;
};

/** A condition of the negative kind is true exactly when the positive one is not: also for what is absent. */
const compileCondition = (
  condition: Condition,
  now: Date,
  memberOf: MemberOf,
  assumed: Assumed | undefined,
): Passes => {
  const { field, op, value } = condition;
  const { op: positive, isNegated } = positiveOf(op);
  if (positive === "member") {
    const isMember = memberOf(String(value), isNegated ? opposite(assumed) : assumed);
    return (subject) => isMember(subject) !== isNegated;
  }
  if (field.isFact === true && assumed !== undefined) return () => assumed === "passes";
  const read = readerOf(condition);
  const test = tests[positive]({ value, kind: kinds[field.kind], now: now.getTime() });
  return (subject) => {
    const found = read(subject);
    return (found !== undefined && found !== null && test(found)) !== isNegated;
  };
};

/** What a condition finds of somebody; undefined and null: nothing. */
export const readerOf = ({ field, value }: Pick<Condition, "field" | "value">): ((subject: Subject) => unknown) => {
  const ask = historyAsk({ field, value });
  return ask === null ? field.read : (subject) => factsOf(subject).countOf(ask.key, subject.person._id);
};

type Comparison = { value: unknown; kind: Kind; now: number };

/** Judges a value that is there. */
type Test = (found: unknown) => boolean;

const ranked =
  (isSo: (found: string | number, wanted: string | number) => boolean) =>
  ({ value, kind }: Comparison): Test => {
    const rank = kind.rank ?? (() => null);
    const wanted = rank(value) ?? Number.NaN;
    return (found) => {
      const place = rank(found);
      return place !== null && isSo(place, wanted);
    };
  };

const above = ranked((found, wanted) => found > wanted);
const atLeast = ranked((found, wanted) => found >= wanted);
const below = ranked((found, wanted) => found < wanted);
const atMost = ranked((found, wanted) => found <= wanted);

const oneOf = (values: readonly unknown[], { key }: Kind): Test => {
  const keys = new Set(values.map(key));
  return (found) => {
    const one = key(found);
    return one !== null && keys.has(one);
  };
};

const equal = (value: unknown, { key }: Kind): Test => {
  const wanted = key(value);
  return (found) => key(found) === wanted;
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Part of a text, as its kind treats the case of letters. */
const partOf =
  (isPart: (found: string, wanted: string) => boolean) =>
  ({ value, kind }: Comparison): Test => {
    const spelt = kind === kinds["text without case"] ? (text: string) => text.toLowerCase() : (text: string) => text;
    const wanted = typeof value === "string" ? spelt(value) : null;
    return (found) => typeof found === "string" && wanted !== null && isPart(spelt(found), wanted);
  };

const partOfText = partOf((found, wanted) => found.includes(wanted));

const contains = (asked: Comparison): Test => {
  const inText = partOfText(asked);
  const isItem = equal(asked.value, asked.kind);
  return (found) => (Array.isArray(found) ? found.some(isItem) : inText(found));
};

/** Between then and now: what lies ahead is not within the last time. */
const withinLast = ({ value, kind, now }: Comparison): Test => {
  const { amount, unit } = value as { amount: number; unit: keyof typeof filterUnits }; // sound: the parser has seen to it
  const from = now - amount * filterUnits[unit];
  return (found) => {
    const at = kind.rank?.(found);
    return typeof at === "number" && at >= from && at <= now;
  };
};

const atNow = (asked: Comparison): Comparison =>
  asked.value === "now" ? { ...asked, value: new Date(asked.now) } : asked;

const elapsed =
  (isSo: (seconds: number, wanted: number) => boolean) =>
  ({ value, now }: Comparison): Test => {
    const wanted = Number(value);
    return (found) => {
      const since = unixTimeOf(found);
      return since !== null && isSo(now / 1_000 - since, wanted);
    };
  };

const tests: Record<Exclude<Positive, "member">, (asked: Comparison) => Test> = {
  eq: ({ value, kind }) => equal(value, kind),
  in: ({ value, kind }) => oneOf(listOf(value), kind),
  gt: above,
  gte: atLeast,
  lt: below,
  lte: atMost,
  between: (asked) => {
    const [low, high] = listOf(asked.value);
    const [isAtLeast, isAtMost] = [atLeast({ ...asked, value: low }), atMost({ ...asked, value: high })];
    return (found) => isAtLeast(found) && isAtMost(found);
  },
  contains,
  starts_with: partOf((found, wanted) => found.startsWith(wanted)),
  ends_with: partOf((found, wanted) => found.endsWith(wanted)),
  exists: () => () => true,
  within_last: withinLast,
  before: (asked) => below(atNow(asked)),
  after: (asked) => above(atNow(asked)),
  time_elapsed_gt: elapsed((seconds, wanted) => seconds > wanted),
  time_elapsed_lt: elapsed((seconds, wanted) => seconds < wanted),
  performed: ({ value, now }) => {
    const { op, value: times } = countOf(value);
    const isOften = tests[op]({ value: times, kind: kinds.number, now });
    return (found) => Number(found) > 0 && isOften(found);
  },
  within_radius: ({ value }) => {
    const circle = value as Circle; // sound: the parser has seen to it
    return (found) => {
      const place = placeOf(found);
      return place !== null && distanceM(place, circle) <= circle.radius_m;
    };
  },
};
