import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { invalid } from "#core/errors.ts";
import { defaultLimit } from "#core/schema/json/page.ts";
import type { Within } from "#core/storage/mongo/read-within.ts";

/** What a cursor is bound to: the list, its order, and everything that narrows it. */
export type CursorScope = { list: string; sort: string; filters: Readonly<Record<string, unknown>> };

export type Cursors = ReturnType<typeof cursors>;

/**
 * Opaque, signed positions in lists. They do not expire; they are no use for another list, order or filter. `secret` is
 * asked for when one is written or read.
 */
export const cursors = (secret: () => Buffer) => {
  const sign = (payload: string): Buffer => createHmac("sha256", secret()).update(payload).digest().subarray(0, 16);
  return {
    write: (scope: CursorScope, lastKey: string): string => {
      const payload = Buffer.from(
        JSON.stringify({ v: 1, sort: scope.sort, last_key: lastKey, filter_hash: hashOf(scope) }),
      );
      return `${payload.toString("base64url")}.${sign(payload.toString("base64url")).toString("base64url")}`;
    },

    /** The last key of the page before. @throws ValidationError for a cursor that is not ours, or not of this scope */
    read: (scope: CursorScope, cursor: string): string => {
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
      return String(lastKey);
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

/**
 * Reads one page of a list: one row more than asked for tells whether there are more. What was read in part, for its size,
 * is a shorter page.
 */
export const readPage = async <Row, T>(list: {
  cursors: Cursors;
  scope: CursorScope;
  cursor: string | undefined;
  limit: number | undefined;
  read: (page: { after: string | null; isDescending: boolean; limit: number }) => Promise<Row[] | Within<Row>>;
  keyOf: (row: Row) => string;
  view: (row: Row) => T;
}): Promise<Page<T>> => {
  const { scope, cursor, limit = defaultLimit } = list;
  const after = cursor === undefined ? null : list.cursors.read(scope, cursor);
  const read = await list.read({ after, isDescending: scope.sort.startsWith("-"), limit: limit + 1 });
  const { rows, isWhole } = Array.isArray(read) ? { rows: read, isWhole: true } : read;
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = (rows.length > limit || !isWhole) && last !== undefined;
  return {
    data: shown.map((row) => list.view(row)),
    next_cursor: hasMore ? list.cursors.write(scope, list.keyOf(last)) : null,
    has_more: hasMore,
  };
};
