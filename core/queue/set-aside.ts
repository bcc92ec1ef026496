import type { AnyBulkWriteOperation, Collection } from "mongodb";
import type { Clock } from "../domain/clock.ts";
import { sweepMs } from "../domain/durations.ts";
import type { Log } from "../runtime/process/log.ts";
import { longAgo } from "../storage/mongo/collection.ts";
import type { Leasable } from "../storage/work/leases.ts";

/** A document, and why it could not be handled. */
export type Fault<Row = Leasable> = { row: Row; error: unknown };

export type AsideDeps = {
  clock: Clock;
  log: Log;
  /** Counts documents that could not be handled. */
  setAside: (times: number) => void;
};

const mostAsideMs = 600_000;
const reasonCharacters = 500;

/**
 * Sets documents aside that failed although the stores answer: each says why, and is due after 10 s, doubling to 10
 * minutes, unless somebody has its lease: the holder decides when it is due.
 */
export const putAside = async (
  rows: Collection<Leasable>,
  faults: readonly Fault[],
  source: string,
  { clock, log, setAside }: AsideDeps,
): Promise<void> => {
  if (faults.length === 0) return;
  const now = clock.now();
  for (const { row, error: err } of faults)
    log.error({ source, document: row._id, failures: failuresOf(row), err }, "document.set_aside");
  setAside(faults.length);
  await rows.bulkWrite(
    faults.flatMap((fault) => asides(fault, now)),
    { ordered: false },
  );
};

const asides = ({ row, error }: Fault, now: Date): AnyBulkWriteOperation<Leasable>[] => {
  const failures = failuresOf(row);
  const at = new Date(now.getTime() + Math.min(sweepMs * 2 ** (failures - 1), mostAsideMs));
  const reason = String(error).slice(0, reasonCharacters);
  const aside = { reason, failures, since: row.set_aside?.since ?? now };
  const isFree = { $or: [{ lease: null }, { "lease.until": { $lte: now } }] };
  const due = { _id: row._id, due_at: { $gt: longAgo, $lt: at }, ...isFree };
  return [
    { updateOne: { filter: { _id: row._id }, update: { $set: { set_aside: aside } } } },
    { updateOne: { filter: due, update: { $set: { due_at: at } } } },
  ];
};

const failuresOf = ({ set_aside: aside }: Leasable): number => (aside?.failures ?? 0) + 1;
