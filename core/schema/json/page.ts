import { Type } from "typebox";
import { Nullable } from "./common.ts";
import { patterns } from "./patterns.ts";

/** A page of a cursor list. Source: spec 4.0. */
export const PageOf = <T extends Type.TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    next_cursor: Nullable(Type.String({ description: "opaque; the `cursor` of the next page" })),
    has_more: Type.Boolean(),
  });

/** How a list is cut into pages and sorted. */
export type Paging<Sort extends string = string> = {
  /** Items of a page when `limit` is not given. */
  standard: number;
  /** The order when `sort` is not given. */
  sort: Sort;
};

const mostItems = 500; // of a page of any list: what is read at once is bounded

type PagingOptions<Key extends string> = {
  standard?: number;
  most?: number;
  /** What the list can be sorted by; the first is the order of ids. */
  keys?: readonly [Key, ...Key[]];
  /** The usual order: a key, with `-` before it for descending. */
  sort: Key | `-${Key}`;
};

/**
 * Declares how a list is paged: what its handler goes by, and the members of its query. A list that is always in its
 * usual order leaves `sortQuery` out. @throws RangeError for pages that are too large
 */
export const pagingOf = <const Key extends string = "created_at">({
  standard = 50,
  most = 200,
  keys = ["created_at" as Key], // sound: that is Key when none are given
  sort,
}: PagingOptions<Key>) => {
  if (most > mostItems || standard > most) throw new RangeError(`pages of ${standard}, at most ${most} items`);
  const sorts = keys.flatMap((key) => [key, `-${key}` as const]);
  const paging: Paging<Key | `-${Key}`> = { standard, sort };
  return {
    ...paging,
    pageQuery: {
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: most, description: `items of a page; default ${standard}` }),
      ),
      cursor: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 1024,
          pattern: patterns.cursor,
          description: "`next_cursor` of the page before",
        }),
      ),
    },
    sortQuery: { sort: Type.Optional(Type.Enum(sorts, { description: `default ${sort}` })) },
  };
};
