import type { Collection } from "mongodb";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { JobEnd, JobRow } from "#core/storage/work/jobs.ts";

/** A type of long work, whose documents are due at an instant: docs/decisions/0046. */
export type JobType<Row extends JobRow> = {
  /** In hints, metrics and logs: the name of its collection. */
  name: string;
  rows: Collection<Row>;
  /**
   * Works through a document in pages. It may be killed anywhere and is run again then. What throws although the stores
   * answer has the document set aside.
   */
  run: (row: Row, progress: Progress) => Promise<JobResult<Row>>;
  /** How long a run lasts before it gives way to other jobs, ms: for work that goes on where it was. Endless when left out. */
  turnMs?: (row: Row) => number;
  /** What has to run beside it. */
  parts?: readonly Part[];
};

/**
 * Called between two pages with how many items the last one had, and how many there are in all when that is known.
 * @throws Halted when no further page is to be begun: the run must let it pass
 */
export type Progress = (items: number, total?: number) => void;

/** What a run came to. */
export type JobResult<Row extends JobRow> = {
  /** Null when the run has removed the document. */
  end: JobEnd<Row> | null;
  /** What the line of the run in the log says beside what it says of every run. */
  facts?: Record<string, unknown>;
};
