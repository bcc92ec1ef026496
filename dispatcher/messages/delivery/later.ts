import type { Clock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Timed } from "#core/domain/messages/optimized.ts";
import { throttledSize } from "#core/domain/messages/slots.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import { type ChunkRow, type Chunks, chunkSize } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { noWork } from "#core/storage/work/due.ts";
import { rateOf } from "../timing/throttle.ts";
import { type Attempt, deliveryIdOf, schedule } from "./delivery-row.ts";

/** A recipient that is sent to for the first time at `at`. `isZoneUnknown`: by the zone of the app, as theirs is not known. `timing`: of an optimised message. */
export type Later = { subscription: Reached; at: Date; isZoneUnknown?: boolean; timing?: Timed };

export type KeepLaterDeps = {
  chunks: Pick<Chunks, "keep" | "withRowsOf">;
  load: (ids: readonly string[]) => Promise<Reached[]>;
  /** Stores deliveries that are not there yet. */
  record: (rows: readonly DeliveryRow[]) => Promise<unknown>;
  clock: Clock;
};

type Part = { chunk: ChunkRow; message: MessageRow };

/** What is due sooner has no delivery of its own while it waits: to write and replace one costs as much as half a send. */
export const rowsAfterMs = 900_000;

/**
 * Keeps whom a run leaves to be sent to later: chunks of those who are due at one instant, then, where that is more than a
 * quarter of an hour away, a delivery of each that says so. May run twice: what an earlier run of the chunk did not come to
 * is done first.
 */
export const keepLater =
  (deps: KeepLaterDeps) =>
  async ({ chunk, message }: Part, later: readonly Later[]): Promise<void> => {
    const now = deps.clock.now();
    if (chunk.fence > 1) await restoreRows(deps, chunk, now);
    const made = laterChunks({ chunk, message }, later, now);
    await deps.chunks.keep(made);
    const known = new Map(later.map(({ subscription }) => [subscription._id, subscription]));
    for (const one of made)
      await writeRows(
        deps,
        one,
        one.recipients.flatMap((id) => known.get(id) ?? []),
        now,
      );
  };

/** Deliveries of chunks that an earlier run kept before it was killed. */
const restoreRows = async (deps: KeepLaterDeps, chunk: ChunkRow, now: Date): Promise<void> => {
  for (const kept of await deps.chunks.withRowsOf(chunk._id)) {
    await writeRows(deps, kept, await deps.load(kept.recipients), now);
  }
};

const writeRows = async (
  { record }: KeepLaterDeps,
  chunk: ChunkRow,
  recipients: readonly Reached[],
  now: Date,
): Promise<void> => {
  const { has_rows: hasRows, scheduled_for: at } = chunk;
  if (hasRows !== true || at === undefined) return;
  await record(recipients.map((subscription) => schedule(notAttempted(chunk, subscription, now), at)));
};

/** A recipient of a chunk that no provider is asked about. */
export const notAttempted = (chunk: ChunkRow, subscription: Reached, now: Date): Attempt => ({
  deliveryId: deliveryIdOf(chunk.message_id, subscription._id),
  chunk,
  subscription,
  provider: "",
  now,
  expiresAt: now,
  isReplaceable: false,
});

/** Those of one instant share chunks, apart for whom it is that of the app's zone. */
const laterChunks = ({ chunk, message }: Part, later: readonly Later[], now: Date): ChunkRow[] => {
  const rate = rateOf(message);
  const size = rate === null ? chunkSize : throttledSize(rate, chunkSize);
  const buckets = Map.groupBy(later, ({ at, isZoneUnknown, timing }) =>
    [at.getTime(), isZoneUnknown === true, ...(timing === undefined ? [] : [timing])].join(" "),
  );
  return [...buckets].flatMap(([key, bucket]) =>
    parts(bucket, size).map((part, index): ChunkRow => {
      const { at = now, isZoneUnknown, timing } = part[0] ?? {};
      const { zone_unknown: ofZone, collapse_keys: _keys, ...common } = chunk;
      return {
        ...common,
        ...noWork,
        _id: derivedId("chunk", chunk._id, String(chunk.fence), "later", key, String(index)),
        status: "scheduled",
        scheduled_for: at,
        ...(at.getTime() - now.getTime() > rowsAfterMs && { has_rows: true as const }),
        ...(timing !== undefined && { timing }),
        ...((isZoneUnknown ?? ofZone) && { zone_unknown: true as const }),
        recipients: part.map(({ subscription }) => subscription._id),
        scanned: null,
        parent_id: chunk._id,
        may_overlap: true,
        created_at: now,
      };
    }),
  );
};

const parts = (bucket: readonly Later[], size: number): Later[][] => {
  const made: Later[][] = [];
  for (let from = 0; from < bucket.length; from += size) made.push(bucket.slice(from, from + size));
  return made;
};
