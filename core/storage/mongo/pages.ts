import type { Collection, Filter, FindOptions } from "mongodb";

/** Called after each page with how many documents it had. It throws when no further page is to be begun. */
export type OnPage = (documents: number) => void;

const mostAtOnce = 10_000; // ids in one reply of the server, when nothing limits them

/** Ids of the documents that a filter finds. */
export const findIds = async <Row extends { _id: string }>(
  rows: Collection<Row>,
  filter: Filter<Row>,
  options: Pick<FindOptions, "hint" | "sort" | "limit"> = {},
): Promise<string[]> => {
  const batchSize = (options.limit ?? mostAtOnce) + 1; // one more than there can be: so the server leaves no cursor open
  const found = rows.find<{ _id: string }>(filter, { ...options, projection: { _id: 1 }, batchSize });
  return (await found.toArray()).map(({ _id }) => _id);
};

/** Calls `read` with one part of a list after another, of `size` at most, and gives all that it found. */
export const inPages = async <T, R>(
  items: readonly T[],
  size: number,
  read: (page: T[]) => Promise<readonly R[]>,
): Promise<R[]> => {
  const found: R[] = [];
  for (let from = 0; from < items.length; from += size) found.push(...(await read(items.slice(from, from + size))));
  return found;
};
