import DataLoader from "dataloader";
import type { Collection, Filter } from "mongodb";

/**
 * Reads values by their key; those that are asked for in the same turn of the event loop are read by one call of
 * `read`, and a key that several ask for is read once. Nothing is kept: each turn reads again. When a read fails, it
 * fails for all who asked.
 */
export const loader = <Value>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): ((key: string) => Promise<Value | null>) => {
  const batches = new DataLoader<string, Value | null>(
    async (keys) => {
      const values = await read([...new Set(keys)]);
      return keys.map((key) => values.get(key) ?? null);
    },
    { cache: false, maxBatchSize: maxBatch, batchScheduleFn: (run) => void setImmediate(run) },
  );
  return (key) => batches.load(key);
};

const maxBatch = 200; // keys in one filter: in memory they are no more than if each were asked for alone

/** Reads documents by their id, those that are asked for at the same time in one query. Callers share what they get. */
export const byId = <Row extends { _id: string }>(rows: Collection<Row>): ((id: string) => Promise<Row | null>) =>
  loader(async (ids) => {
    const filter = { _id: { $in: ids } } as Filter<Row>; // sound: every `_id` is a string
    const found = (await rows.find(filter).toArray()) as unknown as Row[]; // without a projection it is the whole row
    return new Map(found.map((row) => [row._id, row]));
  });
