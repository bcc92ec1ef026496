import type { Clock } from "#core/domain/clock.ts";
import { exportLimits } from "#core/schema/exports/export.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import type { Exports } from "#core/storage/exports/exports.ts";
import { type FileStore, noStore } from "#core/storage/files/store.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import { oneWriter } from "#core/storage/mongo/duplicate.ts";
import type { Caller } from "../access/caller.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { quotaExceeded } from "../limits/quota-exceeded.ts";

export type AddDeps = {
  exports: Pick<Exports, "find" | "insert" | "takenPlaces">;
  files: Pick<FileStore, "kind">;
  limit: NarrowLimit;
  clock: Clock;
};

/** What an export is to hold, and where it was asked for. */
export type ExportRequest = Pick<ExportRow, "type" | "filters" | "compression"> & {
  of: OfApp;
  caller: Caller;
  id: string;
  /** Its rate; null where another was taken. */
  operation: "exports.create" | "exports.history" | "exports.events" | null;
  subject?: string;
  /** The user whose data it is of. */
  person?: string;
  /** Who is mailed the address of the file. */
  mailTo?: string | undefined;
};

/**
 * Stores an export, which a dispatcher begins within a second; the one that is there when its id is taken.
 * @throws RateLimited, AppError HS_QUOTA_EXCEEDED, and Unavailable without a store of files
 */
export const addExport = ({ exports, files, limit, clock }: AddDeps) => {
  const alone = oneWriter();
  return async (asked: ExportRequest): Promise<ExportRow> => {
    const { of, operation } = asked;
    if (files.kind === "none") throw noStore();
    if (operation !== null) await limit(operation, of.appId);
    const row = rowOf(asked, clock.now());
    const stored = await alone(of.appId, () => store(exports, of, row));
    if (stored === null) throw full();
    return stored;
  };
};

const mostPending = exportLimits.pending;

const full = () => {
  const facts = { metric: "exports_pending", limit: mostPending, used: mostPending, needed: 1 } as const;
  return quotaExceeded(`an app may have ${mostPending} exports waiting`, facts);
};

/**
 * Stores an export in a free place of its app, which no other can have then: so no more than the bound wait, however many
 * are asked for at once. Each time that somebody else has taken the place it looks for another. Null when none is free.
 */
const store = async (exports: AddDeps["exports"], of: OfApp, row: ExportRow): Promise<ExportRow | null> => {
  for (let look = 0; look < mostPending; look++) {
    const taken = await exports.takenPlaces(of, mostPending);
    const place = places.find((each) => !taken.has(each));
    if (place === undefined) return exports.find(of, row._id); // a repeat of one that has its place
    const placed = { ...row, place };
    if (await exports.insert(placed)) return placed;
    const same = await exports.find(of, row._id);
    if (same !== null) return same;
  }
  return null;
};

const places = Array.from({ length: mostPending }, (_, place) => place);

const rowOf = (
  { of, caller, id, type, filters, compression, subject, person, mailTo }: ExportRequest,
  now: Date,
): ExportRow => ({
  _id: id,
  tenant_id: of.tenantId,
  app_id: of.appId,
  type,
  filters,
  compression,
  status: "pending",
  row_count: null,
  counted_at: null,
  attempts: 0,
  error: null,
  file: null,
  expires_at: null,
  ...(subject !== undefined && { subject }),
  ...(person !== undefined && { person }),
  ...(mailTo !== undefined && { mail_to: mailTo }),
  requested_by: caller.key._id,
  created_at: now,
  completed_at: null,
  due_at: now,
  lease: null,
  fence: 0,
});
