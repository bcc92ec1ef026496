import { type DeliveryRow, deliveryBatch } from "#core/storage/deliveries.ts";

export type RecorderDeps = {
  /** Stores rows; returns the ids that were there before. */
  store: (rows: readonly DeliveryRow[]) => Promise<Set<string>>;
  /** Stores under way at once. */
  writers: number;
};

/** Whether this call stored the delivery, or an earlier run had. */
export type Recorded = "new" | "known";

export type Recorder = { record: (row: DeliveryRow) => Promise<Recorded> };

type Waiting = { row: DeliveryRow; resolve: (recorded: Recorded) => void; reject: (error: unknown) => void };

/**
 * Stores outcomes in batches that form by themselves: while a write is under way the next results gather, and the next
 * free writer takes up to 100 of them. So a lone result is stored at once and a flood in few writes.
 */
export const recorder = ({ store, writers }: RecorderDeps): Recorder => {
  const waiting: Waiting[] = []; // bounded by the window: a recipient holds its slot until its row is stored
  let writing = 0;

  const write = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const known = await store(batch.map(({ row }) => row));
      for (const { row, resolve } of batch) resolve(known.has(row._id) ? "known" : "new");
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const pump = async (): Promise<void> => {
    if (writing >= writers) return;
    writing++;
    await Promise.resolve(); // lets the results of the same turn gather
    while (waiting.length > 0) await write(waiting.splice(0, deliveryBatch));
    writing--;
  };

  return {
    record: (row) =>
      new Promise((resolve, reject) => {
        waiting.push({ row, resolve, reject });
        void pump();
      }),
  };
};
