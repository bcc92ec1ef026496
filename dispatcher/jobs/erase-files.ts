import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Clock } from "#core/domain/clock.ts";
import type { ExportWork } from "#core/storage/exports/work.ts";
import type { Content, FileStore } from "#core/storage/files/store.ts";
import { type Imports, importFiles } from "#core/storage/imports/imports.ts";
import type { Person } from "#core/storage/mongo/collection.ts";

export type EraseFilesDeps = {
  files: Pick<FileStore, "kind" | "read">;
  exports: Pick<ExportWork, "withFile" | "expire">;
  imports: Pick<Imports, "withReport" | "expireReport">;
  /** Aborts when the program stops. */
  stopping: AbortSignal;
  clock: Clock;
};

/**
 * Ends the exports and the reports of imports whose file names a person who is erased: the jobs remove such a file at once.
 * Each is read to its first trace, in bounded memory, and once: those that were made before `since` were read by an earlier
 * pass.
 */
export const eraseFiles =
  ({ files, exports, imports, stopping, clock }: EraseFilesDeps) =>
  async ({ appId, keys }: Person, since: Date | null): Promise<void> => {
    if (files.kind === "none") return;
    const isIn = async (key: string): Promise<boolean> => {
      const content = await files.read(key, { signal: stopping });
      return content !== null && names(key.endsWith(".gz") ? inflated(content) : content, keys);
    };
    const isNew = ({ completed_at: at }: { completed_at: Date | null }) => since === null || at === null || at >= since;
    const now = clock.now();
    for await (const { _id, file, ...made } of exports.withFile(appId, now))
      if (file !== null && isNew(made) && (await isIn(file.key))) await exports.expire(_id, clock.now());
    for await (const row of imports.withReport(appId, now))
      if (isNew(row) && (await isIn(importFiles(row).report))) await imports.expireReport(row._id, clock.now());
  };

const inflated = (content: Content): Content => {
  const gunzip = createGunzip();
  pipeline(Readable.from(content), gunzip, () => undefined); // who reads it gets the error
  return gunzip;
};

/** Whether a file has one of these ids as a whole value: nothing that belongs to an id stands beside it. */
export const names = async (content: Content, keys: ReadonlySet<string>): Promise<boolean> => {
  const wanted = [...keys].map(idOf).filter((id) => id !== "");
  const tail = 2 + Math.max(...wanted.map(({ length }) => length)); // with what stands before and behind it
  const decoder = new TextDecoder();
  let text = "\n";
  for await (const bytes of content) {
    text += decoder.decode(bytes, { stream: true }).toLowerCase();
    if (wanted.some((id) => isWholeIn(text, id, false))) return true;
    text = text.slice(-tail);
  }
  return wanted.some((id) => isWholeIn(text, id, true));
};

/** Of `<label>:<id>` the id; ours have no label. Case tells no two people apart here: a file too many may go. */
const idOf = (key: string): string => key.slice(/^[a-z0-9_]+:/.exec(key)?.[0].length ?? 0).toLowerCase();

const partOfId = /[\p{L}\p{N}_@.+-]/u;

/** At the end of what was read so far only the end of the file ends an id. */
const isWholeIn = (text: string, id: string, isEnd: boolean): boolean => {
  for (let at = text.indexOf(id); at !== -1; at = text.indexOf(id, at + 1)) {
    const [before, after] = [text[at - 1], text[at + id.length]];
    if (after === undefined && !isEnd) return false;
    if (before === undefined) continue; // it was looked at with the piece before
    if (!partOfId.test(before) && (after === undefined || !partOfId.test(after))) return true;
  }
  return false;
};
