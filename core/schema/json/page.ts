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

/** Items of a page when `limit` is not given. */
export const defaultLimit = 50;

/** Query members of every cursor list. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: "items of a page; default 50" })),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      pattern: patterns.cursor,
      description: "`next_cursor` of the page before",
    }),
  ),
};
