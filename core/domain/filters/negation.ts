import type { FilterOp } from "../../schema/segments/filter.ts";

const negations = {
  neq: "eq",
  not_in: "in",
  not_contains: "contains",
  not_exists: "exists",
  not_within_last: "within_last",
  not_member: "member",
  not_performed: "performed",
} as const satisfies Partial<Record<FilterOp, FilterOp>>;

type Negative = keyof typeof negations;

/** An op that is false for what is absent. */
export type Positive = Exclude<FilterOp, Negative>;

const isNegative = (op: FilterOp): op is Negative => Object.hasOwn(negations, op);

/** The op that says the opposite of a negative one, or the positive one itself. */
export const positiveOf = (op: FilterOp): { op: Positive; isNegated: boolean } =>
  isNegative(op) ? { op: negations[op], isNegated: true } : { op, isNegated: false };
