import type { Collection, Filter, MatchKeysAndValues } from "mongodb";
import { sweepMs } from "../../domain/durations.ts";
import { extendLease, type Leasable, type Leased, type LeaseTerm, type Settle, settle, takeLease } from "./leases.ts";

/** A document that stands for long work. */
export type JobRow = Leasable & { tenant_id: string; app_id: string; progress?: JobProgress };

/** How far a job has come in all of its runs; `total` is null when nobody knows. Written as the lease is extended. */
export type JobProgress = { done: number; total: number | null; at: Date };

/** What a dispatcher does to the documents of a type of job; every write names the fence of the lease it was made under. */
export const jobWork = <Row extends JobRow>(rows: Collection<Row>) => {
  const jobs = rows as unknown as Collection<JobRow>; // the driver's types cannot see that Row has its members
  return {
    /** Takes a job that is due. Null when another has it, or when nothing of it is due. */
    take: (id: string, term: LeaseTerm): Promise<Row | null> => {
      const dueBy = new Date(term.now.getTime() + movedOnMs);
      const when = { due_at: { $lte: dueBy } } as Filter<Row>; // sound: Row has the members of Leasable
      return takeLease(rows, { id, ...term, when }) as Promise<Row | null>; // sound: Row has an `_id` already
    },

    extend: (job: Leased, progress: JobProgress, term: Pick<LeaseTerm, "now" | "leaseMs">): Promise<boolean> =>
      extendLease(jobs, job, { ...term, set: { progress } }),

    /** Gives a job back after a run that went well: it is set aside no longer, unless it still has to wait. */
    settle: (job: Leased, progress: JobProgress, { dueAt, set, isWaiting }: JobEnd<Row>): Promise<boolean> => {
      const all = { ...set, progress } as MatchKeysAndValues<JobRow>;
      return settle(jobs, job, { dueAt, set: all, ...(isWaiting !== true && { unset: { set_aside: "" as const } }) });
    },

    /** Gives a job back after a run that was halted or failed. */
    rest: (job: Leased, progress: JobProgress, dueAt: Date): Promise<boolean> =>
      settle(jobs, job, { dueAt, set: { progress } }),
  };
};

/** What is written as a job is given back; when `dueAt` is null nothing is left to do. */
export type JobEnd<Row extends JobRow> = Pick<Settle<Row>, "dueAt" | "set"> & {
  /** It did nothing, as it is not its turn: how often it has failed before stays known. */
  isWaiting?: true;
};

/** A timer that has published a hint moves `due_at` on by the sweep's interval; clocks may differ by as much. */
const movedOnMs = 2 * sweepMs;
