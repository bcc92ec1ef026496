import type { Collection, Filter } from "mongodb";
import { retryConflicts } from "../mongo/duplicate.ts";
import { findIds, type OnPage } from "../mongo/pages.ts";

/** Documents removed by one command at most: it takes some 50 ms, and others' writes come between. */
export const removedAtOnce = 1_000;

export type Removing<Row> = {
  filter: Filter<Row>;
  /** The index that finds them. */
  hint: string;
  /** Commands at most. */
  pages: number;
  onPage?: OnPage | undefined;
};

/**
 * Removes documents page by page, each by its id: one command for all of them would take as long as there are many,
 * and would fail again and again once that is longer than a command may take. Whether none is left.
 * @throws what `onPage` throws
 */
export const removePages = async <Row extends { _id: string }>(
  rows: Collection<Row>,
  { filter, hint, pages, onPage }: Removing<Row>,
): Promise<boolean> => {
  for (let page = 0; page < pages; page++) {
    const ids = await findIds(rows, filter, { hint, limit: removedAtOnce });
    const these = { _id: { $in: ids } } as unknown as Filter<Row>; // sound: every `_id` is a string
    if (ids.length > 0) await retryConflicts(() => rows.deleteMany(these)); // others may be writing some of them
    onPage?.(ids.length);
    if (ids.length < removedAtOnce) return true;
  }
  return false;
};
