import type { BatchOutbox } from "#core/queue/batch-outbox.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import type { EventBatches } from "#core/storage/events/batches.ts";

export type OfferFirstDeps = {
  batches: Pick<EventBatches, "insert">;
  outbox: Pick<BatchOutbox, "offer">;
  /** JetStream did not answer. */
  onAway: () => void;
  onFailure: (error: unknown) => void;
};

/** Apps of whose events neither JetStream nor the store has all, and why. */
export type Lost = { appIds: ReadonlySet<string>; error: unknown };

const inFlight = 16; // batches that are being published

/**
 * Publishes batches, and stores what of each JetStream does not acknowledge; null when all events are in one of the two.
 * What is stored is due again soon, and no sooner: it was just refused.
 */
export const offerFirst =
  (deps: OfferFirstDeps) =>
  async (rows: readonly EventBatchRow[]): Promise<Lost | null> => {
    const left = (await mapBounded(rows, inFlight, (row) => leftOf(deps, row))).flat();
    if (left.length === 0) return null;
    try {
      await deps.batches.insert(left);
      return null;
    } catch (error) {
      return { appIds: new Set(left.map(({ app_id }) => app_id)), error };
    }
  };

/** The batch of what JetStream does not acknowledge now; none when it has all. */
const leftOf = async ({ outbox, onAway, onFailure }: OfferFirstDeps, row: EventBatchRow): Promise<EventBatchRow[]> => {
  try {
    const { left, away } = await outbox.offer(row);
    if (away !== null) onAway();
    return left.length === 0 ? [] : [{ ...row, events: left }];
  } catch (error) {
    onFailure(error); // the store keeps it, and its timer meets the error again
    return [row];
  }
};
