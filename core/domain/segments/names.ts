import type { Condition, FilterTree } from "../filters/tree.ts";
import { conditionsOf } from "../filters/tree.ts";

/** The conditions of a filter that name segments. */
export const namingConditions = (tree: FilterTree): Condition[] =>
  conditionsOf(tree).filter(({ name }) => name === "segment");

/** The same filter with the ids of the segments that it names. `filter` is one that was parsed without an error. */
export const withIds = (filter: unknown, idOf: (named: string) => string): unknown => {
  if (Array.isArray(filter)) return filter.map((one) => withIds(one, idOf));
  if (typeof filter !== "object" || filter === null) return filter;
  if ("field" in filter && filter.field === "segment" && "value" in filter)
    return { ...filter, value: idOf(String(filter.value)) };
  if ("field" in filter) return filter;
  return Object.fromEntries(Object.entries(filter).map(([match, of]) => [match, withIds(of, idOf)]));
};
