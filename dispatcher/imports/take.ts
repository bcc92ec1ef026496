import type { Clock } from "#core/domain/clock.ts";
import { type CsvRow, Unreadable } from "#core/domain/imports/csv.ts";
import { type Columns, headerOf } from "#core/domain/imports/header.ts";
import { rowReader } from "#core/domain/imports/read-row.ts";
import { type Finding, reportLines, shownRow } from "#core/domain/imports/report.ts";
import { type ImportErrorCode, type ImportStats, importLimits } from "#core/schema/imports/import.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { cancelled, type ImportRow, type Imports, importFiles } from "#core/storage/imports/imports.ts";
import type { ImportedPeople } from "#core/storage/imports/people.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { OptOuts } from "#core/storage/suppressions/opt-outs.ts";
import type { Progress } from "../jobs/job.ts";
import { type ReadyBatch, readAhead } from "./ahead.ts";
import { importBatch } from "./batch.ts";
import { inBatches } from "./batches.ts";
import type { BatchResult } from "./import-batch.ts";
import { rowsOf } from "./rows.ts";

export type TakeDeps = {
  imports: Pick<Imports, "commit">;
  people: ImportedPeople;
  keepOptOuts: OptOuts["keep"];
  files: Pick<FileStore, "read" | "write">;
  /** How many more subscriptions a tenant's plan admits; null when it sets no limit. */
  subscribersLeft: (row: ImportRow) => Promise<number | null>;
  /** Counts rows by what became of them, and bytes of files that were read. */
  count: (stats: BatchResult["stats"], bytes: number) => void;
  clock: Clock;
  /** Aborts when the grace is over. */
  cut: AbortSignal;
};

/** Why an import ends before its file does: a code of ours, and words. */
export class Failed extends Error {}

export const failed = (error: `${ImportErrorCode}: ${string}`): Failed => new Failed(error);

/** What taking the rest of a file came to: all that the import has done by now. */
export type TakenFile = Pick<ImportRow, "stats" | "position" | "report_parts">;

/**
 * Takes the rest of a file, batch by batch. Each is written, then counted in the import's document, so that a run after a
 * kill goes on behind the last one that was counted.
 * @throws Failed, Unreadable, and what `progress` throws
 */
export const takeFile =
  (deps: TakeDeps) =>
  async (row: ImportRow, app: Pick<AppRow, "import_huawei_as">, progress: Progress): Promise<TakenFile> => {
    const { files, subscribersLeft, clock, cut } = deps;
    const left = await subscribersLeft(row);
    const content = await files.read(importFiles(row).upload, { signal: cut });
    if (content === null) throw failed("HS_NOT_FOUND: the file is gone");
    const { pieces, bytes } = rowsOf(content);
    const { columns, rest } = await headed(row, pieces);
    const read = rowReader(row.type, columns, { huaweiAs: app.import_huawei_as ?? "android_push" });
    const warning = row.position.rows === 0 ? warningOf(row, columns) : null;
    const of = ofRow(row);
    const ahead = readAhead({ people: deps.people, of, read, clock }, inBatches(rest, { taken: row.position.rows }));
    let state: Taking = { taken: row, left, findings: warning === null ? [] : [warning] };
    for await (const ready of ahead) {
      state = await takeBatch(deps, row, state, { ...ready, columns, bytes: bytes() });
      progress(ready.rows.length);
    }
    if (state.findings.length > 0)
      state = await takeBatch(deps, row, state, { ...noRows(clock), columns, bytes: bytes() });
    return { ...state.taken, position: { ...state.taken.position, bytes: bytes() } };
  };

const noRows = (clock: Clock): ReadyBatch => ({ rows: [], now: clock.now(), known: null });

/** `findings`: those that no part of the report has yet. */
type Taking = { taken: TakenFile; left: number | null; findings: readonly Finding[] };

type BatchInput = ReadyBatch & { columns: Columns; bytes: number };

const takeBatch = async (
  deps: TakeDeps,
  row: ImportRow,
  { taken, left, findings: before }: Taking,
  { rows, now, known, columns, bytes }: BatchInput,
): Promise<Taking> => {
  const { imports, count } = deps;
  const number = taken.position.rows;
  if (number + rows.length > importLimits.rows) throw tooMany();
  const idsAt = new Date(row.created_at.getTime() + Math.floor(number / 1_000)); // ids of a batch stand together
  const batch = { of: ofRow(row), importId: row._id, number, idsAt, now, left };
  const result = await importBatch(deps)(batch, rows, known);
  if (number === 0 && result.refused.includes(rows[0]?.line ?? 0))
    throw failed("HS_QUOTA_EXCEEDED: the plan's subscribers are exhausted");
  const findings = [
    ...before,
    ...result.findings.map(({ line, error, csv }) => ({ line, error, row: shownRow(row.type, columns, csv) })),
  ];
  const reportPart = findings.length === 0 ? null : number;
  if (reportPart !== null) await writePart(deps, row, reportPart, findings);
  const stats = sumOf(taken.stats, result.stats);
  const position = { rows: number + rows.length, bytes };
  const said = await imports.commit(row, { stats, position, reportPart });
  if (said === "cancelled") throw failed(cancelled);
  if (said === "lost") throw new Error("another process has the import");
  count(result.stats, bytes - taken.position.bytes);
  const parts = reportPart === null ? taken.report_parts : [...new Set([...taken.report_parts, reportPart])];
  return { taken: { stats, position, report_parts: parts }, left: result.left, findings: [] };
};

const tooMany = (): Failed => failed(`HS_IMPORT_TOO_LARGE: the file has more than ${importLimits.rows} rows; split it`);

const writePart = async (
  { files, cut }: TakeDeps,
  row: ImportRow,
  part: number,
  findings: readonly Finding[],
): Promise<void> => {
  const content = [Buffer.from(reportLines(findings))];
  await files.write(importFiles(row).part(part), iterable(content), { contentType: "text/csv", signal: cut });
};

async function* iterable<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

const sumOf = (before: ImportStats, added: BatchResult["stats"]): ImportStats => {
  const names = Object.keys(added) as (keyof typeof added)[]; // sound: its own
  return Object.fromEntries(names.map((name) => [name, (before[name] ?? 0) + added[name]]));
};

/** Takes the header off. @throws Unreadable for a file without one that fits its type */
const headed = async (
  { type }: ImportRow,
  pieces: AsyncIterable<CsvRow[]>,
): Promise<{ columns: Columns; rest: AsyncIterable<CsvRow[]> }> => {
  const all = pieces[Symbol.asyncIterator]();
  try {
    for (let next = await all.next(); next.done !== true; next = await all.next()) {
      const [first, ...others] = next.value;
      if (first === undefined) continue;
      const header = headerOf(type, first.cells);
      if (!header.ok) throw new Unreadable(`the file ${header.problem}`);
      return { columns: header.columns, rest: behind(others, all) };
    }
    throw new Unreadable("the file is empty");
  } catch (error) {
    await all.return?.(); // closes the file
    throw error;
  }
};

async function* behind(first: CsvRow[], rest: AsyncIterator<CsvRow[]>): AsyncGenerator<CsvRow[]> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Its default columns do not say who anybody is. Source: docs/reference/imports.md#players. */
const warningOf = ({ type }: ImportRow, columns: Columns): Finding | null => {
  if (type !== "thirdparty_players" || columns.has("external_user_id")) return null;
  const error =
    "every row is anonymous: export again with extra_fields external_user_id, notification_types, timezone_id";
  return { line: 1, error, row: [...columns.keys()].join(",") };
};
