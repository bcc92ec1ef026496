import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { UnusableSegment } from "#core/domain/segments/members.ts";
import { Unavailable } from "#core/errors.ts";
import { isPassing } from "#core/queue/jetstream/passing.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { exportLimits } from "#core/schema/exports/export.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { exportCollection, nobody, unmailed } from "#core/storage/exports/exports.ts";
import { exportFile, exportFilePrefix } from "#core/storage/exports/file.ts";
import { type ExportWork, exportWork } from "#core/storage/exports/work.ts";
import { removeAll } from "#core/storage/files/removal.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { collectionOf, ofRow } from "#core/storage/mongo/collection.ts";
import type { FactsOf } from "#core/storage/segments/facts.ts";
import { exportLines } from "../exports/all.ts";
import { contentOf } from "../exports/content.ts";
import { type ExportMailsDeps, exportMails } from "../exports/mails.ts";
import { PersonGone, personalData } from "../exports/personal-data.ts";
import type { Job, JobResult, Progress } from "./job.ts";
import { job } from "./run.ts";

export type ExportJobDeps = {
  db: Db;
  factsOf: FactsOf;
  files: FileStore;
  /** How long a file can be downloaded, hours. */
  exportHours: number;
  /** Aborts when the program stops. */
  stopping: AbortSignal;
  clock: Clock;
  metrics: Pick<Metrics<"dispatcher">, "jobBytes">;
  mail: ExportMailsDeps["mail"];
  log: Log;
  /** Another bound of rows, for tests. */
  mostRows?: number;
};

/** Exports: docs/decisions/0081. A run makes the whole file, and does not give way: it would begin anew. */
export const exportJob = (deps: ExportJobDeps): Job => {
  const work = exportWork(deps.db);
  const { mail, part } = exportMails(deps);
  return job<ExportRow>({
    name: "exports",
    parts: [part],
    rows: collectionOf<ExportRow>(deps.db, exportCollection),
    run: async (row, progress) => {
      switch (row.status) {
        case "pending":
        case "running":
          return begin({ ...deps, work }, row, progress);
        case "completed":
          return isToBeMailed(row, deps.clock.now()) ? mailed(deps, row, mail) : clean(deps, row);
        case "failed":
          return clean(deps, row);
      }
    },
  });
};

type MakeDeps = ExportJobDeps & { work: ExportWork };
type Result = JobResult<ExportRow>;

/** How long one waits before it is looked at again, when nobody wakes it. */
const waitMs = 15_000;
/** What waits for a store of files so long is given up. */
const longestWaitMs = dayMs;

/** Two of an app are made at a time: whoever finds more than that after saying that it begins gives up its place. */
const begin = async (deps: MakeDeps, row: ExportRow, progress: Progress): Promise<Result> => {
  const { work, clock } = deps;
  const most = exportLimits.running + 1;
  if (row.attempts >= exportLimits.attempts)
    return fail(deps, row, `HS_INTERNAL_ERROR: it was begun ${row.attempts} times`);
  const isTakenOver = row.status === "running";
  const free = exportLimits.running - (await work.running(row.app_id, most)) + (isTakenOver ? 1 : 0);
  if (free <= 0 || !(isTakenOver || (await work.isNext(row, free)))) return wait(deps, row, "others");
  await work.begin(row, clock.now());
  if ((await work.running(row.app_id, most)) === most) return wait(deps, row, "others");
  const result = await make(deps, row, progress);
  if (result.end?.set?.status === "pending") return result; // it waits itself: it would be the one to be woken
  const after = (): void => {
    work.wakeNext(row.app_id, clock.now()).catch(() => undefined); // else it looks itself, soon
  };
  return { ...result, after };
};

const wait = ({ clock }: MakeDeps, { attempts }: ExportRow, waitsFor: "others" | "files"): Result => ({
  end: { dueAt: new Date(clock.now().getTime() + waitMs), set: { status: "pending", attempts } },
  facts: { waitsFor },
});

/** It grew beyond what an export may have. */
class TooLarge extends Error {}

const make = async (deps: MakeDeps, row: ExportRow, progress: Progress): Promise<Result> => {
  const { work, stopping } = deps;
  const tally = tallyOf(deps, row, progress);
  try {
    return await write(deps, row, tally);
  } catch (error) {
    if (error instanceof TooLarge) return fail(deps, row, `HS_EXPORT_TOO_LARGE: ${error.message}`);
    if (error instanceof PersonGone) return fail(deps, row, `HS_NOT_FOUND: ${error.message}`);
    if (error instanceof UnusableSegment) return fail(deps, row, `HS_NOT_FOUND: the export ${error.message}`);
    const isHalted = tally.isHalted() || stopping.aborted;
    if (error instanceof Unavailable && !isHalted) return waitForFiles(deps, row, error);
    const isNoFault = isHalted || isPassing(error);
    await work.putBack(row, isNoFault ? row.attempts : row.attempts + 1).catch(() => undefined); // else its lease ends
    if (stopping.aborted) progress(0); // throws: the run was halted
    throw error;
  }
};

const waitForFiles = (deps: MakeDeps, row: ExportRow, { message }: Unavailable): Result => {
  const isLate = deps.clock.now().getTime() - row.created_at.getTime() > longestWaitMs;
  return isLate || deps.files.kind === "none"
    ? fail(deps, row, `HS_UNAVAILABLE: ${message}`)
    : wait(deps, row, "files");
};

const write = async (deps: MakeDeps, row: ExportRow, tally: Tally): Promise<Result> => {
  const { db, files, exportHours, stopping, clock, metrics, factsOf } = deps;
  const { key, contentType } = exportFile(row);
  const made =
    row.type === "personal_data"
      ? personalData(db, row, clock)
      : exportLines[row.type](db, ofRow(row), row.filters, factsOf);
  const content = contentOf({ lines: made, compression: row.compression, onPage: tally.add });
  const { sizeBytes } = await files.write(key, content, { contentType, signal: stopping });
  metrics.jobBytes.inc({ type: "exports" }, sizeBytes);
  const now = clock.now();
  const expires_at = new Date(now.getTime() + exportHours * hourMs);
  const file = { key, size_bytes: sizeBytes };
  const done = {
    row_count: tally.rows(),
    counted_at: now,
    file,
    expires_at,
    completed_at: now,
    error: null,
    ...nobody(row),
  };
  const dueAt = row.mail_to == null ? expires_at : now;
  return { end: { dueAt, set: { status: "completed", ...done } }, facts: { type: row.type, sizeBytes } };
};

const hourMs = 3_600_000;

type Tally = {
  /** Counts the rows of a page. @throws TooLarge, and what `progress` throws */
  add: (rows: number) => Promise<void>;
  rows: () => number;
  /** Whether no further page is to be begun. */
  isHalted: () => boolean;
};

const countEveryMs = 2_000;

const tallyOf = (
  { work, clock, mostRows = exportLimits.rows }: MakeDeps,
  row: ExportRow,
  progress: Progress,
): Tally => {
  let [rows, isHalted, countedAtMs] = [0, false, performance.now()];
  return {
    add: async (more) => {
      rows += more;
      if (rows > mostRows) throw new TooLarge(`more than ${mostRows} rows; narrow it by filters`);
      try {
        progress(more);
      } catch (error) {
        isHalted = true;
        throw error;
      }
      if (performance.now() - countedAtMs < countEveryMs) return;
      countedAtMs = performance.now();
      await work.count(row, rows, clock.now());
    },
    rows: () => rows,
    isHalted: () => isHalted,
  };
};

/** Ends one without a file. What was written of it is removed by the next run, soon. */
const fail = ({ clock }: Pick<ExportJobDeps, "clock">, row: ExportRow, error: string): Result => {
  const ended = { status: "failed", error, row_count: null, completed_at: clock.now() } as const;
  return {
    end: { dueAt: clock.now(), set: { ...ended, ...nobody(row), ...unmailed(row) } },
    facts: { type: row.type, error },
  };
};

const isToBeMailed = ({ mail_to: to, expires_at: at }: ExportRow, now: Date): boolean =>
  to != null && at !== null && at > now;

const mailAgainMs = 60_000;

/** Mails its address, and again until the mail server has taken it or the file is gone. */
const mailed = async (
  { clock }: ExportJobDeps,
  row: ExportRow,
  mail: ReturnType<typeof exportMails>["mail"],
): Promise<Result> => {
  const isDone = (await mail(row)) === "done";
  if (isDone) return { end: { dueAt: row.expires_at, set: { mail_to: null } }, facts: { isMailed: true } };
  return { end: { dueAt: new Date(clock.now().getTime() + mailAgainMs) }, facts: { waitsFor: "mail" } };
};

/** Removes the file of one that has ended, with what attempts that were killed had written of theirs. */
const clean = async ({ files, stopping, clock }: ExportJobDeps, row: ExportRow): Promise<Result> => {
  try {
    await removeAll(files, exportFilePrefix(row), clock.now(), stopping);
    return { end: { dueAt: null, set: { file: null, ...unmailed(row) } }, facts: { isCleaned: true } };
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return { end: { dueAt: new Date(clock.now().getTime() + waitMs) }, facts: { waitsFor: "files" } };
  }
};
