import type { Filter } from "mongodb";
import type { Clock } from "../domain/clock.ts";
import { longAgo } from "../storage/mongo/collection.ts";
import { turnIndex } from "../storage/work/due.ts";
import type { Leasable } from "../storage/work/leases.ts";
import { type DueSource, type HandleDeps, handlePage } from "./due-page.ts";

/** A document of a tenant that all processes handle, with the bytes of what it holds where they are counted. */
export type OfTenant = Leasable & { tenant_id: string; bytes?: number };

/** What of a tenant is handled before it is the next tenant's turn: so many documents, or fewer that are large. */
const ofTurn = { documents: 64, bytes: 4_000_000 };
const ofLook = 256; // from which they are taken by chance, as other processes take theirs
const uncountedBytes = 1_000_000;

/**
 * Handles what is due, some documents of each tenant in turn, until nothing is. Other processes do the same: `handle` has to
 * make sure that it is the only one with a document. @throws the error of a store that is away
 */
export const handleInTurn = async <Row extends OfTenant>(
  source: DueSource<Row>,
  deps: HandleDeps,
  stop: AbortSignal,
): Promise<void> => {
  let handled = 0;
  for (let last = ""; !stop.aborted; ) {
    const tenantId = await nextTenant(source, last, deps.clock);
    if (tenantId === null && handled === 0) return;
    if (tenantId !== null) {
      const page = someOf(await oldestOf(source, tenantId, deps.clock));
      if (page.length > 0) await handlePage(source, page, deps, stop);
      handled += page.length;
    } else handled = 0;
    last = tenantId ?? "";
  }
};

const dueNow = (clock: Clock) => ({ $gt: longAgo, $lte: clock.now() });

const nextTenant = async <Row extends OfTenant>(
  { collection }: DueSource<Row>,
  last: string,
  clock: Clock,
): Promise<string | null> => {
  const behind = { tenant_id: { $gt: last }, due_at: dueNow(clock) } as Filter<Row>; // sound: Row has both
  const found = await collection.findOne(behind, {
    projection: { tenant_id: 1 },
    sort: { tenant_id: 1, due_at: 1 },
    hint: turnIndex.name,
  });
  return found?.tenant_id ?? null;
};

const oldestOf = <Row extends OfTenant>(
  { collection }: DueSource<Row>,
  tenantId: string,
  clock: Clock,
): Promise<Row[]> =>
  collection
    .find({ tenant_id: tenantId, due_at: dueNow(clock) } as Filter<Row>, { hint: turnIndex.name }) // the same
    .project<Row>({ fence: 1, due_at: 1, set_aside: 1, bytes: 1 }) // what a source's `handle` may look at
    .sort({ due_at: 1 })
    .limit(ofLook)
    .batchSize(ofLook + 1)
    .toArray();

/** Some by chance, in their order, at least one. */
const someOf = <Row extends OfTenant>(rows: readonly Row[]): Row[] => {
  const left = [...rows];
  while (left.length > ofTurn.documents) left.splice(Math.floor(Math.random() * left.length), 1);
  let bytes = 0;
  return left.filter((row, at) => (bytes += row.bytes ?? uncountedBytes) <= ofTurn.bytes || at === 0);
};
