import { positiveOf } from "./negation.ts";
import type { FilteredPerson } from "./subject.ts";
import { type Condition, conditionsOf, type FilterTree, type Group } from "./tree.ts";

/** What of a filter is allowed and probably not meant, each with its path; `unknownTags` are names of tags that nobody has. */
export const filterWarnings = (tree: FilterTree, unknownTags: readonly string[] = []): string[] => [
  ...groupsOf(tree).flatMap(groupWarnings),
  ...conditionsOf(tree)
    .filter(isAlwaysTrue)
    .map(({ path }) => `${path}: is true for everyone`),
  ...conditionsOf(tree).flatMap(({ path, name }) => {
    const tag = tagIn(name);
    return tag !== null && unknownTags.includes(tag) ? [`${path}: nobody has the tag ${tag}`] : [];
  }),
];

const tagPrefix = "tags.";
const tagIn = (name: string): string | null => (name.startsWith(tagPrefix) ? name.slice(tagPrefix.length) : null);

/** Tags that a filter asks about, and none of those people has who were seen. */
export const unseenTags = (tree: FilterTree) => {
  const left = new Set(conditionsOf(tree).flatMap(({ name }) => tagIn(name) ?? []));
  return {
    left,
    see: ({ tags }: Pick<FilteredPerson, "tags">): void => {
      for (const name of left) if (Object.hasOwn(tags, name)) left.delete(name);
    },
  };
};

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
