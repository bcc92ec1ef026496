import type { AnyBulkWriteOperation, Collection, Filter, UpdateFilter } from "mongodb";
import type { Clock } from "../domain/clock.ts";
import { sweepMs } from "../domain/durations.ts";
import type { QueueMetrics } from "../runtime/metrics/queue.ts";
import type { Log } from "../runtime/process/log.ts";
import { longAgo } from "../storage/mongo/collection.ts";
import { sweepAfter } from "../storage/work/due.ts";
import type { Leasable } from "../storage/work/leases.ts";
import { isPassing } from "./jetstream/passing.ts";

export type RingDeps = {
  clock: Clock;
  log: Log;
  metrics: QueueMetrics;
  /** Counts documents that could not be rung. */
  setAside: (times: number) => void;
};

export type RingSource<Row extends Leasable> = {
  name: string;
  collection: Collection<Row>;
  ring: (row: Row, signal?: AbortSignal) => Promise<unknown>;
  atOnce?: number;
};

/**
 * Rings documents that are due, and moves them on by 10 s in case a hint is lost. One that cannot be rung although the
 * stores answer is set aside: it says why, is rung again ever more rarely, and the others go on.
 * @throws the error of a store that is away; no further document was begun then
 */
export const ringPage = async <Row extends Leasable>(
  source: RingSource<Row>,
  rows: readonly Row[],
  deps: RingDeps,
  stop: AbortSignal,
): Promise<void> => {
  const { name, collection } = source;
  const { rung, faults, away } = await ringEach(source, rows, stop);
  for (const { due_at } of rung)
    if (due_at) deps.metrics.timerLagSeconds.observe({ source: name }, secondsSince(due_at, deps.clock));
  deps.metrics.timersRung.inc({ source: name }, rung.length);
  const isThere = rung.length > 0; // then a store that seems to be away may be so for that document alone
  await moveOn(collection, isThere ? [...rung, ...away.map(({ row }) => row)] : [], deps.clock);
  await clear(collection, rung);
  await putAside(source, faults, deps);
  if (away[0] !== undefined) throw away[0].error;
};

const inFlight = 64; // hints being published
const mostAsideMs = 600_000;
const reasonCharacters = 500;

type Failed<Row> = { row: Row; error: unknown };
type Rung<Row> = { rung: Row[]; faults: Failed<Row>[]; away: Failed<Row>[] };

/** Begins no more once a store is away, or the program stops. Never rejects. */
const ringEach = async <Row extends Leasable>(
  { ring, atOnce = inFlight }: RingSource<Row>,
  rows: readonly Row[],
  stop: AbortSignal,
): Promise<Rung<Row>> => {
  const result: Rung<Row> = { rung: [], faults: [], away: [] };
  const left = rows.values();
  const work = async (): Promise<void> => {
    for (const row of left) {
      if (stop.aborted || result.away.length > 0) return;
      try {
        await ring(row, stop);
        result.rung.push(row);
      } catch (error) {
        if (!stop.aborted) (isPassing(error) ? result.away : result.faults).push({ row, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, rows.length) }, work));
  return result;
};

/** A document that was taken or settled meanwhile has another `due_at` by now and keeps it. */
const moveOn = async <Row extends Leasable>(
  collection: Collection<Row>,
  rows: readonly Row[],
  clock: Clock,
): Promise<void> => {
  if (rows.length === 0) return;
  const again = sweepAfter(clock.now());
  const latest = rows.reduce((last, { due_at }) => (due_at !== null && due_at > last ? due_at : last), longAgo);
  const filter = { ...these(rows), due_at: { $gt: longAgo, $lte: latest } } as Filter<Row>; // sound: Row has the members of Leasable
  await collection.updateMany(filter, { $set: { due_at: again } } as unknown as UpdateFilter<Row>);
};

/** What was set aside works again. */
const clear = async <Row extends Leasable>(collection: Collection<Row>, rung: readonly Row[]): Promise<void> => {
  const healed = rung.filter(({ set_aside: aside }) => aside !== undefined);
  if (healed.length === 0) return;
  await collection.updateMany(
    these(healed) as Filter<Row>, // sound: as above
    { $unset: { set_aside: "" } } as unknown as UpdateFilter<Row>,
  );
};

const putAside = async <Row extends Leasable>(
  { name, collection }: RingSource<Row>,
  faults: readonly Failed<Row>[],
  { clock, log, setAside }: RingDeps,
): Promise<void> => {
  if (faults.length === 0) return;
  const now = clock.now();
  for (const { row, error: err } of faults)
    log.error({ source: name, document: row._id, failures: failuresOf(row), err }, "document.set_aside");
  setAside(faults.length);
  await collection.bulkWrite(
    faults.flatMap((fault) => asides(fault, now)),
    { ordered: false },
  );
};

/** It says why, and is due after 10 s, doubling to 10 minutes; whoever holds it at this moment decides when it is due. */
const asides = <Row extends Leasable>({ row, error }: Failed<Row>, now: Date): AnyBulkWriteOperation<Row>[] => {
  const failures = failuresOf(row);
  const at = new Date(now.getTime() + Math.min(sweepMs * 2 ** (failures - 1), mostAsideMs));
  const reason = String(error).slice(0, reasonCharacters);
  const aside = { reason, failures, since: row.set_aside?.since ?? now };
  const isFree = { $or: [{ lease: null }, { "lease.until": { $lte: now } }] };
  const due = { _id: row._id, due_at: { $gt: longAgo, $lt: at }, ...isFree } as unknown as Filter<Row>; // sound: as above
  const mark = { _id: row._id } as Filter<Row>; // sound: as above
  return [
    { updateOne: { filter: mark, update: { $set: { set_aside: aside } } as unknown as UpdateFilter<Row> } },
    { updateOne: { filter: due, update: { $set: { due_at: at } } as unknown as UpdateFilter<Row> } },
  ];
};

const failuresOf = ({ set_aside: aside }: Leasable): number => (aside?.failures ?? 0) + 1;

const these = (rows: readonly Leasable[]) => ({ _id: { $in: rows.map((row) => row._id) } });

const secondsSince = (at: Date, clock: Clock): number => Math.max(0, clock.now().getTime() - at.getTime()) / 1_000;
