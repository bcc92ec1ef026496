import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#core/domain/clock.ts";
import { exportLimits } from "#core/schema/exports/export.ts";
import type { ExportRow, Exports } from "#core/storage/exports/exports.ts";
import { type FileStore, noStore } from "#core/storage/files/store.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { Caller } from "../access/caller.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { quotaExceeded } from "../limits/quota-exceeded.ts";

export type AddDeps = {
  exports: Pick<Exports, "find" | "insert" | "oldestWaiting" | "withdraw">;
  files: Pick<FileStore, "kind">;
  limit: NarrowLimit;
  clock: Clock;
};

/** What an export is to hold, and where it was asked for. */
export type Asked = Pick<ExportRow, "type" | "filters" | "compression"> & {
  of: OfApp;
  caller: Caller;
  id: string;
  operation: "exports.create" | "exports.history" | "exports.events";
  subject?: string;
};

/**
 * Stores an export, which a dispatcher begins within a second; the one that is there when its id is taken.
 * @throws RateLimited, AppError HS_QUOTA_EXCEEDED, and Unavailable without a store of files
 */
export const addExport =
  ({ exports, files, limit, clock }: AddDeps) =>
  async (asked: Asked): Promise<ExportRow> => {
    const { of, id, operation } = asked;
    if (files.kind === "none") throw noStore();
    await limit(operation, of.appId, perMinute);
    if ((await exports.oldestWaiting(of.appId, mostPending)).length === mostPending) throw full();
    const row = rowOf(asked, clock.now());
    if (!(await exports.insert(row))) return (await exports.find(of, id)) ?? row;
    const isKept = (await hasPlace(exports, row)) || !(await exports.withdraw(row)); // it may have been begun
    if (!isKept) throw full();
    return row;
  };

const perMinute = { calls: 10, seconds: 60 };
const mostPending = exportLimits.pending;

const full = () => {
  const [metric, limit] = ["exports_pending", mostPending];
  return quotaExceeded(`an app may have ${limit} exports waiting`, { metric, limit, used: limit, needed: 1 });
};

const looks = 20;
const lookMs = 50;

/**
 * Whether one that was stored may stay. When several came at the same moment the oldest stay: they wait a second for the
 * others to be taken back, as no more than the bound may wait.
 */
const hasPlace = async (exports: AddDeps["exports"], { _id, app_id }: ExportRow): Promise<boolean> => {
  for (let look = 0; look < looks; look++) {
    const waiting = await exports.oldestWaiting(app_id, mostPending + 1);
    if (waiting.length <= mostPending) return true;
    if (!waiting.slice(0, mostPending).includes(_id)) return false;
    await sleep(lookMs);
  }
  return true;
};

const rowOf = ({ of, caller, id, type, filters, compression, subject }: Asked, now: Date): ExportRow => ({
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
  requested_by: caller.key._id,
  created_at: now,
  completed_at: null,
  due_at: now,
  lease: null,
  fence: 0,
});
