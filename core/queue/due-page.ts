import type { Collection } from "mongodb";
import type { Clock } from "../domain/clock.ts";
import type { QueueMetrics } from "../runtime/metrics/queue.ts";
import { longAgo } from "../storage/mongo/collection.ts";
import { sweepAfter } from "../storage/work/due.ts";
import type { Leasable } from "../storage/work/leases.ts";
import { isPassing } from "./jetstream/passing.ts";
import { type AsideDeps, type Fault, putAside } from "./set-aside.ts";

export type HandleDeps = AsideDeps & {
  metrics: QueueMetrics;
  /** Documents of the last page for which a store was away, while it was there for others. */
  suspects: Set<string>;
};

export type DueSource<Row extends Leasable> = {
  name: string;
  collection: Collection<Row>;
  handle: (row: Row, signal?: AbortSignal) => Promise<unknown>;
  leavesAside?: true;
  atOnce?: number;
};

/**
 * Handles documents that are due, and has them due again 10 s later in case a hint is lost. One that fails although the
 * stores answer is set aside: it says why, is handled again ever more rarely, and the others go on.
 * @throws the error of a store that is away; no further document was begun then
 */
export const handlePage = async <Row extends Leasable>(
  source: DueSource<Row>,
  page: readonly Row[],
  deps: HandleDeps,
  stop: AbortSignal,
): Promise<void> => {
  const { name } = source;
  const { handled, faults, away } = await handleEach(source, page, stop);
  for (const { due_at } of handled)
    if (due_at) deps.metrics.timerLagSeconds.observe({ source: name }, secondsSince(due_at, deps.clock));
  deps.metrics.timersHandled.inc({ source: name }, handled.length);
  const rows = source.collection as unknown as Rows; // the driver's types cannot see that Row has the members of Leasable
  await moveOn(rows, [...handled, ...(handled.length > 0 ? suspectsOf(away, deps.suspects) : [])], deps.clock);
  if (source.leavesAside !== true) await clear(rows, handled);
  await putAside(rows, faults, name, deps);
  if (away[0] !== undefined) throw away[0].error;
};

/**
 * A store that has just gone, or come back, is away for some of a page, and their turn comes first when it is there. Those
 * for which it is away a second time are moved on, lest others wait for them.
 */
const suspectsOf = <Row extends Leasable>(away: readonly Fault<Row>[], suspects: Set<string>): Row[] => {
  const again = away.filter(({ row }) => suspects.has(row._id)).map(({ row }) => row);
  suspects.clear();
  for (const { row } of away) suspects.add(row._id);
  return again;
};

const inFlight = 64; // hints being published

type Rows = Collection<Leasable>;
type Handled<Row> = { handled: Row[]; faults: Fault<Row>[]; away: Fault<Row>[] };

/** Begins no more once a store is away, or the program stops. Never rejects. */
const handleEach = async <Row extends Leasable>(
  { handle, atOnce = inFlight }: DueSource<Row>,
  page: readonly Row[],
  stop: AbortSignal,
): Promise<Handled<Row>> => {
  const result: Handled<Row> = { handled: [], faults: [], away: [] };
  const left = page.values();
  const work = async (): Promise<void> => {
    for (const row of left) {
      if (stop.aborted || result.away.length > 0) return;
      try {
        await handle(row, stop);
        result.handled.push(row);
      } catch (error) {
        if (!stop.aborted) (isPassing(error) ? result.away : result.faults).push({ row, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, page.length) }, work));
  return result;
};

/** A document that was taken or settled meanwhile has another `due_at` by now and keeps it. */
const moveOn = async (rows: Rows, page: readonly Leasable[], clock: Clock): Promise<void> => {
  if (page.length === 0) return;
  const latest = page.reduce((last, { due_at }) => (due_at !== null && due_at > last ? due_at : last), longAgo);
  const stillDue = { ...these(page), due_at: { $gt: longAgo, $lte: latest } };
  await rows.updateMany(stillDue, { $set: { due_at: sweepAfter(clock.now()) } });
};

/** What was set aside works again. */
const clear = async (rows: Rows, handled: readonly Leasable[]): Promise<void> => {
  const healed = handled.filter(({ set_aside: aside }) => aside !== undefined);
  if (healed.length > 0) await rows.updateMany(these(healed), { $unset: { set_aside: "" } });
};

const these = (rows: readonly Leasable[]) => ({ _id: { $in: rows.map((row) => row._id) } });

const secondsSince = (at: Date, clock: Clock): number => Math.max(0, clock.now().getTime() - at.getTime()) / 1_000;
