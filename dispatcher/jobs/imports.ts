import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { Unreadable } from "#core/domain/imports/csv.ts";
import { isPassing } from "#core/queue/jetstream/passing.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import { type Apps, apps } from "#core/storage/apps/apps.ts";
import type { Directory } from "#core/storage/directory.ts";
import { removeAll } from "#core/storage/files/removal.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import {
  endOf,
  type ImportRow,
  type Imports,
  importCollection,
  importFiles,
  imports,
} from "#core/storage/imports/imports.ts";
import { importedPeople } from "#core/storage/imports/people.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { subscriptionCounts } from "#core/storage/people/subscription-counts.ts";
import type { BatchResult } from "../imports/import-batch.ts";
import { writeReport } from "../imports/report.ts";
import { subscribersLeft } from "../imports/subscribers-left.ts";
import { Failed, failed, takeFile } from "../imports/take.ts";
import type { Suppressions } from "../suppressions/open.ts";
import type { Job, JobResult, Progress } from "./job.ts";
import { Halted, job } from "./run.ts";

export type ImportJobDeps = {
  db: Db;
  suppressions: Pick<Suppressions, "optOuts">;
  files: FileStore;
  directory: Pick<Directory, "tenant" | "plan">;
  /** Aborts when the grace is over. */
  cut: AbortSignal;
  clock: Clock;
  metrics: Pick<Metrics<"dispatcher">, "importRows" | "jobBytes">;
  /** Another length of a turn, for tests. */
  turnMs?: number;
};

const usualTurnMs = 300_000; // a run that goes on reads its file from the beginning, which takes seconds
const waitMs = 10_000; // until it is looked again whether it is the next one's turn: who ends wakes it
const mostFailures = 10; // in a row, with growing pauses: hours

/** Imports of users and subscriptions, one file of an app at a time: docs/decisions/0082. */
export const importJob = ({ turnMs = usualTurnMs, ...given }: ImportJobDeps): Job => {
  const deps = depsOf(given);
  return job<ImportRow>({
    name: "imports",
    rows: collectionOf<ImportRow>(given.db, importCollection),
    turnMs: () => turnMs,
    run: async (row, progress) => {
      switch (row.status) {
        case "uploading":
          return giveUp(deps, row);
        case "pending":
        case "running":
          return take(deps, row, progress);
        case "completed":
        case "failed":
          return clearAway(deps, row);
      }
    },
  });
};

const depsOf = (given: Omit<ImportJobDeps, "turnMs">) => {
  const { db, suppressions, files, directory, cut, clock, metrics } = given;
  const store = imports(db);
  const owned = apps(db);
  const left = subscribersLeft({ directory, apps: owned, counts: subscriptionCounts(db) });
  const people = importedPeople(db);
  const count = counterOf(metrics);
  const { keep: keepOptOuts } = suppressions.optOuts;
  return {
    imports: store,
    apps: owned,
    files,
    cut,
    clock,
    takeFile: takeFile({ imports: store, people, keepOptOuts, files, subscribersLeft: left, count, clock, cut }),
  };
};

type Deps = {
  imports: Imports;
  apps: Pick<Apps, "find">;
  files: FileStore;
  takeFile: ReturnType<typeof takeFile>;
  cut: AbortSignal;
  clock: Clock;
};

const later = ({ clock }: Pick<Deps, "clock">, ms: number): Date => new Date(clock.now().getTime() + ms);

const take = async (deps: Deps, row: ImportRow, progress: Progress): Promise<JobResult<ImportRow>> => {
  const { imports: store, files, cut } = deps;
  const app = await deps.apps.find(row.app_id);
  if (app === null || !(await store.start(row))) return { end: { dueAt: later(deps, waitMs), isWaiting: true } }; // no app: it is being removed
  try {
    if ((row.set_aside?.failures ?? 0) >= mostFailures)
      throw failed("HS_INTERNAL_ERROR: it failed again and again; what was taken stays taken");
    const taken = await deps.takeFile(row, app, progress);
    if (taken.report_parts.length > 0) await writeReport(files, row, taken.report_parts, cut);
    return ended(deps, row, { ...taken, error: null });
  } catch (error) {
    if (!(error instanceof Failed || error instanceof Unreadable)) {
      const isFault = !(error instanceof Halted || isPassing(error));
      if (isFault) await store.putBack(row).catch(() => undefined); // else those behind it wait until it is tried again
      throw error;
    }
    const said = error instanceof Failed ? error.message : `HS_VALIDATION_ERROR: ${error.message}`;
    const now = (await store.reread(row)) ?? row; // with what was counted before it failed
    if (now.report_parts.length > 0) await writeReport(files, row, now.report_parts, cut);
    return ended(deps, row, { report_parts: now.report_parts, error: said });
  }
};

type Ended = Partial<Pick<ImportRow, "stats" | "position">> & Pick<ImportRow, "report_parts" | "error">;

/** Due at once: what it leaves is cleared away by a run of its own. */
const ended = ({ imports: store, clock }: Deps, row: ImportRow, { error, ...set }: Ended): JobResult<ImportRow> => {
  const now = clock.now();
  const end = endOf(error === null ? "completed" : "failed", { error, hasReport: set.report_parts.length > 0, now });
  return {
    end: { dueAt: now, set: { ...set, ...end } },
    facts: { import: end.status, reason: error?.split(":")[0] ?? null },
    after: () => void store.wakeNext(row, now).catch(() => undefined), // it looks by itself, too
  };
};

/** Of one that ended: the upload and the parts at once, the report after its time. */
const clearAway = async (deps: Deps, row: ImportRow): Promise<JobResult<ImportRow>> => {
  const { files, cut } = deps;
  const { upload, part, all } = importFiles(row);
  const isKept = row.report_until !== null && row.report_until > deps.clock.now();
  if (!isKept) {
    await removeAll(deps.files, all, later(deps, aheadMs), deps.cut);
    return { end: { dueAt: null, set: { report_until: null, report_parts: [] } } };
  }
  await files.remove(upload, cut);
  for (const number of row.report_parts) await files.remove(part(number), cut);
  return { end: { dueAt: row.report_until, set: { report_parts: [] } } };
};

/** An upload that never ended: the apiserver that took it is gone. */
const giveUp = async (deps: Deps, row: ImportRow): Promise<JobResult<ImportRow>> => {
  await removeAll(deps.files, importFiles(row).all, later(deps, aheadMs), deps.cut);
  await deps.imports.forget(row);
  return { end: null };
};

const aheadMs = 60_000; // the store's clock may be ahead of ours

const counterOf =
  (metrics: ImportJobDeps["metrics"]) =>
  ({ processed, errors, skipped }: BatchResult["stats"], bytes: number): void => {
    metrics.importRows.inc({ result: "taken" }, processed - errors);
    metrics.importRows.inc({ result: "faulty" }, errors);
    metrics.importRows.inc({ result: "skipped" }, skipped);
    metrics.jobBytes.inc({ type: "imports" }, Math.max(bytes, 0)); // a run that goes on reads from the beginning
  };
