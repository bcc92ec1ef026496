import { createHash, createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { invalid } from "#core/errors.ts";
import type { Paging } from "#core/schema/json/page.ts";
import type { SortPosition } from "#core/storage/mongo/page-range.ts";
import type { Within } from "#core/storage/mongo/read-within.ts";

/** What a cursor is bound to: the list, its order, and everything that narrows it. */
export type CursorScope = { list: string; sort: string; filters: Readonly<Record<string, unknown>> };

/** Where a page ends: the id of its last item, behind what the list is sorted by if that is not the id. */
export type Position = string | SortPosition;

export type Cursors = ReturnType<typeof cursors>;

/**
 * Opaque, signed positions in lists. They do not expire; they are no use for another list, order or filter. `secret` is
 * asked for when one is written or read.
 */
export const cursors = (secret: () => Buffer) => {
  let last: { secret: Buffer; key: KeyObject } | undefined;
  const keyOf = (asked: Buffer): KeyObject => {
    if (last?.secret !== asked) last = { secret: asked, key: createSecretKey(asked) }; // it takes as long as to sign
    return last.key;
  };
  const sign = (payload: string): Buffer =>
    createHmac("sha256", keyOf(secret())).update(payload).digest().subarray(0, 16);
  return {
    write: (scope: CursorScope, last: Position): string => {
      const key = typeof last === "string" ? last : { date: last.value instanceof Date, ...last };
      const payload = Buffer.from(
        JSON.stringify({ v: 1, sort: scope.sort, last_key: key, filter_hash: hashOf(scope) }),
      );
      return `${payload.toString("base64url")}.${sign(payload.toString("base64url")).toString("base64url")}`;
    },

    /** Where the page before ended. @throws ValidationError for a cursor that is not ours, or not of this scope */
    read: (scope: CursorScope, cursor: string): Position => {
      const [payload = "", signature = ""] = cursor.split(".");
      const given = Buffer.from(signature, "base64url");
      const wanted = sign(payload);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw invalid("cursor", "is not valid");
      const {
        v,
        sort,
        last_key: lastKey,
        filter_hash: hash,
      } = JSON.parse(Buffer.from(payload, "base64url").toString());
      if (v !== 1 || sort !== scope.sort || hash !== hashOf(scope)) {
        throw invalid("cursor", "belongs to another list, order or filter");
      }
      if (typeof lastKey === "string") return lastKey;
      const { date, value, ...place } = lastKey;
      return { ...place, value: date === true ? new Date(value) : value };
    },
  };
};

const hashOf = ({ list, filters }: CursorScope): string => {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const sorted = given.sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([list, sorted]))
    .digest("base64url")
    .slice(0, 22);
};

export type Page<T> = { data: T[]; next_cursor: string | null; has_more: boolean };

/** What a query says of the page that is wanted; its other members narrow the list. */
type PageQuery = { limit?: number; cursor?: string; sort?: string; app_id?: string };

export type PageList<Row, T, At extends Position> = {
  cursors: Cursors;
  paging: Paging;
  /** Which list it is: cursors of one are no use for another. */
  list: string;
  query: PageQuery;
  read: (page: {
    after: At | null;
    sort: string;
    isDescending: boolean;
    limit: number;
  }) => Promise<Row[] | Within<Row, Position>>;
  /** Where a row stands: its id, and what the list is sorted by if that is not the id. */
  positionOf: (row: Row, sort: string) => At;
  view: (row: Row) => T;
};

/**
 * Reads one page of a list: one row more than asked for tells whether there are more. What was read in part, for its size
 * or because few of many fit, is a shorter page; of a list by a key of its own it may be an empty one.
 */
export const readPage = async <Row, T, At extends Position = string>({
  cursors,
  paging,
  list,
  query,
  read,
  positionOf,
  view,
}: PageList<Row, T, At>): Promise<Page<T>> => {
  const { sort = paging.sort, limit = paging.standard, cursor, app_id: _, ...filters } = query;
  const scope = { list, sort, filters };
  const after = cursor === undefined ? null : (cursors.read(scope, cursor) as At); // sound: we signed it for this list and order
  const [isDescending, key] = [sort.startsWith("-"), sort.replace("-", "")];
  const found = await read({ after, sort: key, isDescending, limit: limit + 1 });
  const { rows } = Array.isArray(found) ? { rows: found } : found;
  const end = endOf(found, limit, (row) => positionOf(row, key));
  return {
    data: rows.slice(0, limit).map((row) => view(row)),
    next_cursor: end === null ? null : cursors.write(scope, end),
    has_more: end !== null,
  };
};

/** Behind what the next page begins; null when there is none. */
const endOf = <Row>(
  found: Row[] | Within<Row, Position>,
  limit: number,
  positionOf: (row: Row) => Position,
): Position | null => {
  const { rows, isWhole, readTo } = Array.isArray(found) ? { rows: found, isWhole: true, readTo: undefined } : found;
  if (rows.length <= limit && isWhole) return null;
  if (rows.length <= limit && readTo !== undefined) return readTo;
  const last = rows.slice(0, limit).at(-1);
  return last === undefined ? null : positionOf(last);
};
