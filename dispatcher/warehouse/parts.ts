import { createHash } from "node:crypto";
import type { Db } from "mongodb";
import type { Cell } from "#core/domain/exports/csv.ts";
import { partKey } from "#core/domain/warehouse/keys.ts";
import { warehouseLimits } from "#core/schema/warehouse/export.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import {
  type ChangePlace,
  choiceOf,
  type PartRow,
  type RunSettings,
  type WarehouseRunRow,
} from "#core/storage/warehouse/runs.ts";
import type { WarehouseWork } from "#core/storage/warehouse/work.ts";
import { oneAhead } from "../exports/content.ts";
import type { Progress } from "../jobs/job.ts";
import { openDataset } from "./datasets.ts";
import { type Destination, DestinationError, type DestinationFile } from "./destinations/destination.ts";
import { BadCell, type Encoder } from "./formats/encoder.ts";
import { openEncoder } from "./formats/encoders.ts";
import type { HashOf } from "./sources.ts";

export type PartsDeps = {
  db: Db;
  destination: Destination;
  work: Pick<WarehouseWork, "recordPart" | "isOurs">;
  progress: Progress;
  signal: AbortSignal;
  hash: HashOf;
  /** Counts bytes that were written. */
  onBytes: (bytes: number) => void;
  /** Another bound of rows in a part, for tests. */
  partRows?: number;
};

/** Another process has the run. */
export class LostRun extends Error {}

type OfDataset = { run: WarehouseRunRow; settings: RunSettings; index: number };

/**
 * Writes what is left of a dataset, part by part: each is recorded once it is in the store, with the place where the next
 * one begins. A part ends after so many rows or bytes, in the order of the changes: who writes it again writes the same,
 * unless rows have changed meanwhile.
 * @throws LostRun, DestinationError, and what `progress` throws
 */
export const writeParts = async (deps: PartsDeps, { run, settings, index }: OfDataset): Promise<PartRow[]> => {
  const dataset = run.datasets[index];
  if (dataset === undefined || dataset.is_done) return dataset?.parts ?? [];
  const { db, work, hash, partRows = warehouseLimits.partRows } = deps;
  const { format, event_names: eventNames = null } = settings;
  const row = { of: ofRow(run), exportedAt: run.created_at, runId: run._id };
  const source = openDataset(db, dataset.dataset, { ...row, choice: choiceOf(settings), eventNames, hash });
  const parts = [...dataset.parts];
  const record = async (part: PartRow | null, end: { after: ChangePlace | null; isDone: boolean }): Promise<void> => {
    if (part !== null) parts.push(part);
    if (!(await work.recordPart(run, index, part, end))) throw new LostRun(run._id);
  };
  const finish = async ({ encoder, rows }: Open): Promise<PartRow> => {
    const name = { ...dataset, prefix: settings.destination.prefix, runId: run._id, part: parts.length, format };
    const body = await encoder.end();
    await putOnce(deps, run, { key: partKey(name), body, contentType: encoder.contentType });
    deps.onBytes(body.byteLength);
    return { key: partKey(name), rows, bytes: body.byteLength, sha256: sha256(body) };
  };
  let open: Open | null = null;
  let after = dataset.after;
  for await (const page of oneAhead(source.pages({ ...dataset, after }))) {
    after = page.end;
    deps.progress(page.rows.length); // throws when no further page is to be begun
    if (page.rows.length === 0) continue;
    open ??= { encoder: await openEncoder(source.columns, settings), rows: 0, bytes: 0 };
    open.bytes += await add(open.encoder, page.rows);
    open.rows += page.rows.length;
    if (open.rows < partRows && open.bytes < warehouseLimits.partBytes) continue;
    await record(await finish(open), { after, isDone: false });
    open = null;
  }
  await record(open === null ? null : await finish(open), { after, isDone: true });
  return parts;
};

/** @throws DestinationError for a value that its column cannot have: the files of other datasets can be written */
const add = async (encoder: Encoder, rows: readonly (readonly Cell[])[]): Promise<number> => {
  try {
    return await encoder.add(rows);
  } catch (error) {
    if (error instanceof BadCell) throw new DestinationError("INTERNAL", `a row cannot be written: ${error.message}`);
    throw error;
  }
};

type Open = { encoder: Encoder; rows: number; bytes: number };

/**
 * Writes a file under a key that is nobody else's. When something is there already, a holder before wrote it: the same
 * bytes are left, others are replaced, but only by whoever has the run now. @throws LostRun, DestinationError
 */
export const putOnce = async (
  { destination, work, signal }: Pick<PartsDeps, "destination" | "signal"> & { work: Pick<WarehouseWork, "isOurs"> },
  run: WarehouseRunRow,
  file: DestinationFile,
): Promise<void> => {
  if (await destination.write(file, "new", signal)) return;
  const there = await destination.read(file.key, file.body.byteLength, signal);
  if (there !== null && there.equals(file.body)) return;
  if (!(await work.isOurs(run))) throw new LostRun(run._id);
  await destination.write(file, "over", signal);
};

export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
