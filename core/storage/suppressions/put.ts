import { LRUCache } from "lru-cache";
import {
  type AnyBulkWriteOperation,
  type BulkWriteResult,
  type Collection,
  MongoBulkWriteError,
  type UpdateFilter,
} from "mongodb";
import { joinedBy, type Suppressed } from "../../domain/suppressions/strength.ts";
import { AppError } from "../../errors.ts";
import { gather } from "../../runtime/batching/gather.ts";
import type { OfApp } from "../mongo/collection.ts";
import { duplicatesOf, isWriteConflict } from "../mongo/duplicate.ts";
import { inPages } from "../mongo/pages.ts";
import type { Deletions } from "../warehouse/deletions.ts";
import type { SuppressionRow } from "./suppression-row.ts";

/**
 * Stores entries of one app; those that are there already are raised, never lowered. Gives each as it is stored, in
 * their order: a new one has its own id.
 * @throws AppError HS_CONFLICT when others change the same entries all the time
 */
export type Put = (made: readonly SuppressionRow[], now: Date) => Promise<SuppressionRow[]>;

/** `count` adds to how many entries an app has. */
type Store = { rows: Collection<SuppressionRow>; count: (appId: string, by: number) => Promise<void> };

export const putter = (rows: Store["rows"], count: Store["count"]): Put => {
  const writers = new LRUCache<string, Writer>({ max: mostWriters, memoMethod: () => writerOf({ rows, count }) });
  return async (made, now) => (made[0] === undefined ? [] : writers.memo(made[0].app_id)({ made, now }));
};

const mostWriters = 1_000; // one that is forgotten finishes what it has
const atOnce = { most: 10, inFlight: 1 }; // each puts 1,000 entries at most

type PutRequest = { made: readonly SuppressionRow[]; now: Date };
type Writer = (wanted: PutRequest) => Promise<SuppressionRow[]>;

/** Puts the entries of one app. Those that come while others are written are written together, so that none disturbs another. */
const writerOf = (store: Store): Writer =>
  gather({
    ...atOnce,
    write: async (all: readonly PutRequest[]) => {
      const now = all.reduce((latest, one) => (one.now > latest ? one.now : latest), new Date(0));
      const shown = await put(
        store,
        all.flatMap(({ made }) => made),
        now,
      );
      return all.map(({ made }) => made.map((row) => shown(row)));
    },
  });

const attempts = 10; // one stores, one sees that it is stored; the others are lost to other processes, a second for each

/** Gives what shows each entry as it is stored. */
const put = async (
  { rows, count }: Store,
  made: readonly SuppressionRow[],
  now: Date,
): Promise<(row: SuppressionRow) => SuppressionRow> => {
  const wanted = merged(made);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stored = await readStored(rows, wanted);
    const missing = wanted.flatMap((row) => writesOf(stored.get(placeOf(row)), row, now));
    if (missing.length === 0) return (row) => stored.get(placeOf(row)) ?? row;
    const { insertedCount, deletedCount } = await rows.bulkWrite(missing, { ordered: false }).catch(unlessLost);
    await count(wanted[0]?.app_id ?? "", insertedCount - deletedCount);
  }
  throw busy();
};

type Written = Pick<BulkWriteResult, "insertedCount" | "deletedCount">;

/** What was written where another was quicker: the rest is read again. Throws any other error. */
const unlessLost = (error: unknown): Written => {
  if (!isWriteConflict(error)) duplicatesOf(error, []);
  return error instanceof MongoBulkWriteError ? error : { insertedCount: 0, deletedCount: 0 };
};

/** What is unique in an app. */
const placeOf = ({ subject, channel }: SuppressionRow): string => `${subject} ${channel}`;

/** How many of these entries of one app there are not yet. */
export const newOf = async (rows: Store["rows"], made: readonly SuppressionRow[], now: Date): Promise<number> => {
  const wanted = merged(made);
  const stored = await readStored(rows, wanted);
  return wanted.filter((row) => {
    const there = stored.get(placeOf(row));
    return there === undefined || hasEnded(there, now);
  }).length;
};

const hasEnded = ({ expires_at: end }: SuppressionRow, now: Date): boolean => end !== null && end <= now;

/** One for each place, in one order: so that writers of the same entries wait for each other and never in a circle. */
const merged = (made: readonly SuppressionRow[]): SuppressionRow[] => {
  const places = new Map<string, SuppressionRow>();
  for (const row of made) {
    const first = places.get(placeOf(row));
    places.set(placeOf(row), first === undefined ? row : { ...first, ...joinedBy(first, row) });
  }
  return [...places.values()].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
};

const pageSubjects = 500; // in one $in: keeps each query's plan an index probe

const readStored = async (
  rows: Collection<SuppressionRow>,
  wanted: readonly SuppressionRow[],
): Promise<Map<string, SuppressionRow>> => {
  const [{ tenant_id, app_id } = { tenant_id: "", app_id: "" }] = wanted;
  const subjects = [...new Set(wanted.map(({ subject }) => subject))];
  const found = await inPages(subjects, pageSubjects, (page) =>
    rows.find({ app_id, subject: { $in: page }, tenant_id }).toArray(),
  );
  return new Map(found.map((row) => [placeOf(row), row]));
};

/** What still has to be written for an entry; one that has ended makes room first. */
const writesOf = (
  stored: SuppressionRow | undefined,
  row: SuppressionRow,
  now: Date,
): AnyBulkWriteOperation<SuppressionRow>[] => {
  if (stored === undefined) return [{ insertOne: { document: row } }];
  const filter = { _id: stored._id, revision: stored.revision };
  if (hasEnded(stored, now)) return [{ deleteOne: { filter } }];
  const change = joinedBy(stored, row);
  if (Object.keys(change).length === 0) return [];
  return [{ updateOne: { filter, update: { $set: { ...change, updated_at: now }, $inc: { revision: 1 } } } }];
};

/** Takes back what the status of a subscription said. @throws AppError HS_CONFLICT when others change the entry all the time */
export const takeBack = async (
  { rows, count, deleted }: Store & { deleted: Deletions },
  { tenantId, appId }: OfApp,
  place: Pick<SuppressionRow, "subject" | "channel">,
  now: Date,
): Promise<void> => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const row = await rows.findOne({ app_id: appId, ...place, tenant_id: tenantId });
    if (row?.beside_status === undefined) return;
    const { _id, revision, beside_status: rest } = row;
    const filter = { _id, tenant_id: tenantId, revision };
    if (rest === null) await deleted.note({ tenantId, appId }, "suppressions", [_id], now);
    const changed =
      rest === null
        ? (await rows.deleteOne(filter)).deletedCount
        : (await rows.updateOne(filter, withRest(rest, now))).matchedCount;
    if (changed === 1 && rest === null) await count(appId, -1);
    if (changed === 1) return;
  }
  throw busy();
};

const withRest = (rest: Suppressed, now: Date): UpdateFilter<SuppressionRow> => {
  const gone = ["beside_status", ...causes.filter((name) => rest[name] === undefined)];
  return {
    $set: { ...rest, updated_at: now },
    $unset: Object.fromEntries(gone.map((name) => [name, ""])),
    $inc: { revision: 1 },
  };
};

const causes = ["message_id", "delivery_id", "provider_code"] as const;

const busy = (): AppError =>
  new AppError("HS_CONFLICT", "the same entries are being changed by others", { status: "busy" });
