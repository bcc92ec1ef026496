import type { FilterMatch, FilterOp } from "../../schema/segments/filter.ts";
import type { Field } from "./fields.ts";

/** A condition that was checked: its value is one that the op takes of the field. */
export type Condition = { kind: "condition"; path: string; name: string; field: Field; op: FilterOp; value: unknown };

export type Group = { kind: "group"; path: string; match: FilterMatch; of: readonly FilterTree[] };

/** A filter that was read and checked. `path` is where each part stands in the input. */
export type FilterTree = Group | Condition;

/** The conditions of a filter in the order in which they are written. */
export const conditionsOf = (tree: FilterTree): Condition[] =>
  tree.kind === "condition" ? [tree] : tree.of.flatMap(conditionsOf);
