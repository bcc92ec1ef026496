import { BSON, type Document, type FindCursor } from "mongodb";

/**
 * Documents that were read by one query; `isWhole`: none was left out. Otherwise the list goes on behind the last of them,
 * or behind `readTo`, as far as it was read.
 */
export type Within<Row, At = string> = { rows: Row[]; isWhole: boolean; readTo?: At };

/**
 * Reads documents until they come to so many bytes; at least one. What is left out is to be read again. The driver has
 * one reply of the server's beside them, of 16 MB at most.
 */
export const readWithin = async <Row extends Document>(
  found: Pick<FindCursor<Row>, typeof Symbol.asyncIterator | "close">,
  mostBytes: number,
): Promise<Within<Row>> => {
  const rows: Row[] = [];
  let bytes = 0;
  for await (const row of found) {
    bytes += BSON.calculateObjectSize(row);
    if (bytes > mostBytes && rows.length > 0) {
      await found.close();
      return { rows, isWhole: false };
    }
    rows.push(row);
  }
  return { rows, isWhole: true };
};
