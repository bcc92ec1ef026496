import type { Clock } from "#core/domain/clock.ts";
import { invalid } from "#core/errors.ts";
import { CreateImport, type ImportType, importLimits } from "#core/schema/imports/import.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { type ImportRow, type Imports, importFiles, uploadMs } from "#core/storage/imports/imports.ts";
import { ofApp, ofRow } from "#core/storage/mongo/collection.ts";
import { noWork } from "#core/storage/work/due.ts";
import type { Caller } from "../access/caller.ts";
import type { FormFile, ReadForm } from "../http/protocol/form.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { quotaExceeded } from "../limits/quota-exceeded.ts";
import { type HeadCheck, headChecked } from "./head.ts";

export type CreateDeps = {
  imports: Pick<Imports, "begin" | "uploaded" | "drop" | "find" | "countPending">;
  files: Pick<FileStore, "write" | "remove">;
  limit: NarrowLimit;
  /** Takes back what `limit` counted. */
  uncount: NarrowLimit;
  clock: Clock;
};

export type Creation = { caller: Caller; app: AppRow; id: string; form: ReadForm; signal: AbortSignal };

/**
 * Takes a file into the store as it arrives, and has it imported. Its document is written first, so that an upload that is
 * cut short, by the client or by a kill, is cleared away. Limits come before the file: nobody sends 50 MB to be refused.
 * Only what is accepted counts in the end.
 * Source: docs/reference/imports.md#uploads.
 */
export const createImport =
  (deps: CreateDeps) =>
  async (creation: Creation): Promise<ImportRow> => {
    const { limit, uncount } = deps;
    const { _id: appId } = creation.app;
    await limit("imports.create", appId);
    try {
      return await take(deps, creation);
    } catch (error) {
      await uncount("imports.create", appId);
      throw error;
    }
  };

const take = async (deps: CreateDeps, creation: Creation): Promise<ImportRow> => {
  const { imports, files, clock } = deps;
  await requireFewPending(deps, creation.app);
  const row = rowOf(creation, clock.now());
  const { upload } = importFiles(row);
  await imports.begin(row);
  const forget = async (reason: unknown): Promise<never> => {
    await files.remove(upload, AbortSignal.timeout(cleanUpMs)).catch(() => undefined); // else the job does
    await imports.drop(row).catch(() => undefined);
    throw reason;
  };
  const uploaded = await receive(deps, creation, upload).catch(forget);
  // from here on it may be pending although this write seems to fail: then only the job removes anything
  if (await imports.uploaded(row, uploaded, clock.now())) return { ...row, ...uploaded, status: "pending" };
  const kept = await imports.find(ofRow(row), row._id); // the driver may have sent the write twice
  return kept ?? forget(new Error("the upload was given up")); // it took longer than its request may
};

const cleanUpMs = 5_000;

const requireFewPending = async ({ imports }: CreateDeps, app: AppRow): Promise<void> => {
  const { pending } = importLimits;
  const used = await imports.countPending(ofApp(app), pending);
  if (used < pending) return;
  const metric = "imports_pending";
  throw quotaExceeded(`an app may have ${pending} imports that wait`, { metric, limit: pending, used, needed: 1 });
};

const rowOf = ({ caller, app, id }: Creation, now: Date): ImportRow => ({
  ...noWork,
  _id: id,
  tenant_id: app.tenant_id,
  app_id: app._id,
  type: "csv_users", // replaced by what the form says
  file_name: null,
  status: "uploading",
  stats: {},
  size_bytes: 0,
  position: { rows: 0, bytes: 0 },
  report_parts: [],
  report_until: null,
  error: null,
  requested_by: caller.key._id,
  created_at: now,
  completed_at: null,
  due_at: new Date(now.getTime() + uploadMs),
});

type Uploaded = Pick<ImportRow, "type" | "file_name" | "size_bytes">;

/** The type may stand before the file or behind it: the file's header is looked at as soon as both are there. */
const receive = async ({ files }: CreateDeps, { form, signal }: Creation, key: string): Promise<Uploaded> => {
  const store = async ({ name, content }: FormFile, before: Readonly<Record<string, string>>) => {
    const check = headChecked(content, before["type"] === undefined ? null : typeOf(before));
    const { sizeBytes } = await files.write(key, check.content, { contentType: "text/csv", signal });
    return { name, sizeBytes, check };
  };
  const { fields, taken } = await form(store);
  const type = typeOf(fields);
  if (taken === null) throw invalid("file", "is required");
  requireHead(taken.check, type);
  return { type, file_name: taken.name?.slice(0, longestName) || null, size_bytes: taken.sizeBytes };
};

const longestName = 255;

const requireHead = ({ problem }: HeadCheck, type: ImportType): void => {
  const found = problem(type);
  if (found !== null) throw invalid("file", found);
};

const parseForm = parser(CreateImport);

/** @throws ValidationError when it is missing, or none that there is */
const typeOf = (fields: Readonly<Record<string, string>>): ImportType => {
  const { type }: { type: ImportType } = parseForm({ ...fields, file: "" });
  return type;
};
