import type { Collection, Filter } from "mongodb";
import { findIds } from "../mongo/pages.ts";

/** Documents removed by one command at most: it takes some 50 ms, and others' writes come between. */
export const removedAtOnce = 1_000;

export type Removing<Row> = {
  filter: Filter<Row>;
  /** The index that finds them. */
  hint: string;
  /** Commands at most. */
  pages: number;
  signal?: AbortSignal | undefined;
};

/**
 * Removes documents page by page, each by its id: one command for all of them would take as long as there are many,
 * and would fail again and again once that is longer than a command may take. Whether none is left.
 * @throws the reason of `signal` when it aborts, between pages
 */
export const removePages = async <Row extends { _id: string }>(
  rows: Collection<Row>,
  { filter, hint, pages, signal }: Removing<Row>,
): Promise<boolean> => {
  for (let page = 0; page < pages; page++) {
    signal?.throwIfAborted();
    const ids = await findIds(rows, filter, { hint, limit: removedAtOnce });
    if (ids.length > 0) await rows.deleteMany({ _id: { $in: ids } } as unknown as Filter<Row>); // sound: every `_id` is a string
    if (ids.length < removedAtOnce) return true;
  }
  return false;
};
