import { isOfOne } from "#core/queue/jetstream/passing.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import { type DeliveryRow, deliveryBatch } from "#core/storage/messages/deliveries.ts";

export type RecorderDeps = {
  /** Stores rows; returns the ids that were there before. */
  store: (rows: readonly DeliveryRow[]) => Promise<Set<string>>;
  /** Stores under way at once. */
  writers: number;
};

/** Whether this call stored the delivery, or an earlier run had. */
export type Recorded = "new" | "known";

/**
 * Stores outcomes: one that comes alone at once, those that a packet of a provider's answers tells of together, in batches
 * of at most 100. What waits is bounded by the window: a recipient keeps its slot until its row is stored.
 */
export const recorder = ({ store, writers }: RecorderDeps): ((row: DeliveryRow) => Promise<Recorded>) =>
  gather<DeliveryRow, Recorded>({
    write: async (rows) => {
      const known = await store(rows);
      return rows.map(({ _id }) => (known.has(_id) ? "known" : "new"));
    },
    most: deliveryBatch,
    inFlight: writers,
    isOfTurn: true,
    isOfOne,
  });
