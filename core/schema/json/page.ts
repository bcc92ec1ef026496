import { Type } from "typebox";
import { Nullable } from "./common.ts";
import { patterns } from "./patterns.ts";

/** A page of a cursor list. Source: docs/reference/requests.md#pages. */
export const PageOf = <T extends Type.TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    next_cursor: Nullable(Type.String({ description: "opaque; the `cursor` of the next page" })),
    has_more: Type.Boolean(),
  });

/** How many items a page has when `limit` is not given, and its order when `sort` is not. */
export type Paging = { standard: number; sort: string };

const mostItems = 500; // of a page of any list: what is read at once is bounded

/**
 * Declares the pages of a list: at most `most` items, sorted by one of `keys` (that of ids when left out), with `-` before
 * it for descending. Gives what its handler goes by and the members of its query; a list of one order leaves `sortQuery`
 * out. @throws RangeError for pages that are too large
 */
export const pagingOf = <const Key extends string = "created_at">({
  standard = 50,
  most = 200,
  keys = ["created_at" as Key], // sound: that is Key when none are given
  sort,
}: Partial<Paging> & { most?: number; keys?: readonly [Key, ...Key[]]; sort: Key | `-${Key}` }) => {
  if (most > mostItems || standard > most) throw new RangeError(`pages of ${standard}, at most ${most} items`);
  const sorts = keys.flatMap((key) => [key, `-${key}` as const]);
  const cursor = { minLength: 1, maxLength: 1024, pattern: patterns.cursor };
  return {
    standard,
    sort,
    pageQuery: {
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: most, description: `items of a page; default ${standard}` }),
      ),
      cursor: Type.Optional(Type.String({ ...cursor, description: "`next_cursor` of the page before" })),
    },
    sortQuery: { sort: Type.Optional(Type.Enum(sorts, { description: `default ${sort}` })) },
  };
};
