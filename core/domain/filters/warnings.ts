import { positiveOf } from "./negation.ts";
import { type Condition, conditionsOf, type FilterTree, type Group } from "./tree.ts";

/** What of a filter is allowed and probably not meant, each with its path. */
export const filterWarnings = (tree: FilterTree): string[] => [
  ...groupsOf(tree).flatMap(groupWarnings),
  ...conditionsOf(tree)
    .filter(isAlwaysTrue)
    .map(({ path }) => `${path}: is true for everyone`),
];

const groupsOf = (tree: FilterTree): Group[] => (tree.kind === "condition" ? [] : [tree, ...tree.of.flatMap(groupsOf)]);

const groupWarnings = ({ path, match, of }: Group): string[] => {
  if (of.length === 0)
    return [`${path}.${match}: is empty, so it is ${match === "any" ? "false" : "true"} for everyone`];
  if (match !== "any") return [];
  const negatives = of.filter((one): one is Condition => one.kind === "condition" && positiveOf(one.op).isNegated);
  const repeated = [...Map.groupBy(negatives, ({ name }) => name)].filter(([, same]) => same.length > 1);
  return repeated.map(
    ([name]) =>
      `${path}.any: several negative conditions on ${name}: whoever fails one passes another, so it is true for almost everyone`,
  );
};

const alwaysThere = new Set(["user_id", "first_seen_at", "last_active_at", "created_at", "session_count", "random"]);

const isAlwaysTrue = ({ op, name, value }: Condition): boolean =>
  (op === "exists" && alwaysThere.has(name)) ||
  (op === "gte" && (name === "session_count" || name === "random") && Number(value) <= 0);
