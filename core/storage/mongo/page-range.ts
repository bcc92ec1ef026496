import type { Document } from "mongodb";
import { beforeIdsOf } from "../../domain/ids.ts";
import { type IdKind, idPrefixes } from "../../schema/vocabulary/id-prefixes.ts";

/** Where a page begins, and in which direction it goes. */
export type PagePlace = { after: string | null; isDescending: boolean };

/**
 * The range of ids (or, without a kind, of ULIDs) that a page of a list is read from: behind the page before, of what
 * was made between two instants, both included. It always has two ends: without both the planner may read what belongs
 * to others.
 */
export const pageRange = (
  kind: IdKind | null,
  { from, to }: { from?: Date | undefined; to?: Date | undefined },
  { after, isDescending }: PagePlace,
): { $gt: string; $lt: string } => {
  const above = [
    kind === null ? "" : `${idPrefixes[kind]}_`,
    ...(from === undefined ? [] : [beforeIdsOf(kind, from)]),
    ...(after === null || isDescending ? [] : [after]),
  ];
  const below = [
    kind === null ? anyText.$lt : aboveIdsOf(kind),
    ...(to === undefined ? [] : [beforeIdsOf(kind, new Date(to.getTime() + 1))]),
    ...(after === null || !isDescending ? [] : [after]),
  ];
  return { $gt: above.reduce((a, b) => (a > b ? a : b)), $lt: below.reduce((a, b) => (a < b ? a : b)) };
};

/** The ids of a kind behind one of them, or behind ""; with two ends, as {@link pageRange} has them. */
export const idsBehind = (kind: IdKind, after: string): { $gt: string; $lt: string } => ({
  $gt: after,
  $lt: aboveIdsOf(kind),
});

/** Every id of a kind, with two ends. */
export const everyIdOf = (kind: IdKind): { $gt: string; $lt: string } => idsBehind(kind, `${idPrefixes[kind]}_`);

/** Every id and ULID, and every token: with two ends, as {@link pageRange} has them. */
export const anyText = { $gt: "", $lt: "~" } as const;

const aboveIdsOf = (kind: IdKind): string => `${idPrefixes[kind]}\``; // "`" follows "_"

/** Where a list that is sorted by a member, then by id, goes on. The member is never null. */
export type SortPosition = { value: string | number | Date; id: string };

/**
 * What finds a page of such a list, and its order: the index has both. The bound on the member alone stands beside the
 * exact one because it is what an index is searched by.
 */
export const sortedPage = (
  member: string,
  { after, isDescending }: { after: SortPosition | null; isDescending: boolean },
): { filter: Document; sort: Record<string, 1 | -1> } => {
  const [beyond, direction] = isDescending ? (["$lt", -1] as const) : (["$gt", 1] as const);
  const sort = { [member]: direction, _id: direction };
  if (after === null) return { filter: {}, sort };
  const { value, id } = after;
  const behind = [{ [member]: { [beyond]: value } }, { [member]: value, _id: { [beyond]: id } }];
  return { filter: { [member]: { [`${beyond}e`]: value }, $or: behind }, sort };
};

/** The same for a list by a name that is unique in what `filter` is added to: the id adds nothing to the order of such names. */
export const namedPage = ({
  after,
  isDescending,
}: {
  after: SortPosition | null;
  isDescending: boolean;
}): ReturnType<typeof sortedPage> => {
  const [above, below] = isDescending ? ["", after?.value ?? behindAllNames] : [after?.value ?? "", behindAllNames];
  return { filter: { name: { $gt: above, $lt: below } }, sort: { name: isDescending ? -1 : 1 } };
};

const behindAllNames = "\u{10ffff}";
