import { parseFilter } from "../../domain/filters/parse.ts";
import type { Condition, FilterTree } from "../../domain/filters/tree.ts";
import { segmentMembers, UnusableSegment } from "../../domain/segments/members.ts";
import { namingConditions, withIds } from "../../domain/segments/names.ts";
import { invalid } from "../../errors.ts";
import type { AppRow } from "../apps/apps.ts";
import { type DefinitionRow, type Segments, TooManySegments } from "./segments.ts";

export type CheckFilterDeps = { segments: Pick<Segments, "called" | "definitions"> };

/** A filter that was checked, with the segments that it names, one by another. */
export type CheckedFilter = {
  /** As it is stored: segments stand in it by their ids. */
  filter: object;
  tree: FilterTree;
  /** Ids of the segments that it names itself. */
  names: string[];
  definitions: ReadonlyMap<string, DefinitionRow>;
};

/**
 * Reads a filter and finds the segments that it names, by their ids, else by their names. `at` is where it stands in the
 * request. @throws ValidationError
 */
export const checkFilter =
  ({ segments }: CheckFilterDeps) =>
  async ({ _id: appId }: Pick<AppRow, "_id">, input: unknown, at = "filter"): Promise<CheckedFilter> => {
    const naming = namingConditions(parseFilter(input, at));
    const idOf = await idsOf(segments, appId, naming);
    const filter = withIds(input, idOf) as object; // sound: it was parsed
    const names = [...new Set(naming.map(({ value }) => idOf(String(value))))];
    const definitions = await definitionsOf(segments, appId, { names, at });
    const tree = parseFilter(filter, at);
    usable(at, () => segmentMembers(definitions, anytime).ofFilter(tree));
    return { filter, tree, names, definitions };
  };

const anytime = new Date(0); // it is opened to see that it can be

/** Refuses what names a segment that cannot be opened, because of those that this one names. @throws ValidationError */
export const usable = (at: string, open: () => unknown): void => {
  try {
    open();
  } catch (error) {
    if (error instanceof UnusableSegment) throw invalid(at, error.message);
    throw error;
  }
};

/** Refuses a filter of a segment that names the segment itself, also through others. @throws ValidationError */
export const refuseCircle = (id: string, { tree, definitions }: CheckedFilter): void => {
  for (const { path, value } of namingConditions(tree)) {
    const way = wayTo(id, String(value), definitions);
    if (way === null) continue;
    const through = way.length === 0 ? "" : `, through ${way.join(" and ")}`;
    throw invalid(`${path}.value`, `must not lead to the segment itself${through}`);
  }
};

/** The names of the segments that lead from one to another; null when none do. */
const wayTo = (to: string, from: string, definitions: CheckedFilter["definitions"]): string[] | null => {
  const ways = new Map<string, string[]>([[from, []]]);
  for (const [id, way] of ways) {
    if (id === to) return way;
    const found = definitions.get(id);
    for (const next of found?.names ?? []) if (!ways.has(next)) ways.set(next, [...way, found?.name ?? id]); // a Map goes through what is added meanwhile
  }
  return null;
};

const idsOf = async (
  segments: CheckFilterDeps["segments"],
  appId: string,
  naming: readonly Condition[],
): Promise<(named: string) => string> => {
  const named = naming.map(({ value }) => String(value));
  const found = named.length === 0 ? [] : await segments.called(appId, named);
  const ids = new Map([
    ...found.map(({ name, _id }): [string, string] => [name, _id]),
    ...found.map(({ _id }): [string, string] => [_id, _id]), // behind the names: an id goes before them
  ]);
  const unknown = naming.find(({ value }) => !ids.has(String(value)));
  if (unknown !== undefined) throw invalid(`${unknown.path}.value`, "is no segment of the app, by its id or its name");
  return (one) => ids.get(one) ?? one;
};

const definitionsOf = async (
  segments: CheckFilterDeps["segments"],
  appId: string,
  { names, at }: { names: readonly string[]; at: string },
): Promise<Map<string, DefinitionRow>> => {
  if (names.length === 0) return new Map();
  try {
    return await segments.definitions(appId, names);
  } catch (error) {
    if (error instanceof TooManySegments) throw invalid(at, error.message);
    throw error;
  }
};
