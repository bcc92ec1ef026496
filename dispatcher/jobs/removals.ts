import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import { outbox } from "#core/queue/outbox.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { idPrefixes } from "#core/schema/vocabulary/id-prefixes.ts";
import { type Apps, apps } from "#core/storage/apps/apps.ts";
import { removeFilesOfPerson } from "#core/storage/conversations/files.ts";
import { idPagesOfPerson } from "#core/storage/conversations/person.ts";
import { type StoredData, storedData } from "#core/storage/data.ts";
import { exportWork } from "#core/storage/exports/work.ts";
import { removeFilesOfApp } from "#core/storage/files/removal.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { imports } from "#core/storage/imports/imports.ts";
import { collectionOf, ofRow, type Person } from "#core/storage/mongo/collection.ts";
import { type Merges, merges } from "#core/storage/people/merge.ts";
import { type Subscriptions, subscriptions } from "#core/storage/people/subscriptions.ts";
import { type SegmentWork, segmentWork } from "#core/storage/segments/work.ts";
import { type Deletions, deletions } from "#core/storage/warehouse/deletions.ts";
import { type WebhookWork, webhookWork } from "#core/storage/webhooks/webhooks.ts";
import { type RemovalRow, type Removals, removalCollection, removals } from "#core/storage/work/removals.ts";
import { eraseFiles } from "./erase-files.ts";
import type { Job, JobResult, Progress } from "./job.ts";
import { job } from "./run.ts";

export type RemovalJobDeps = {
  db: Db;
  events: EventPublisher;
  files: Pick<FileStore, "kind" | "removeOld" | "read">;
  /** Aborts when the program stops. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics<"dispatcher">, "queue">;
  /** Another length of the turn of an app or endpoint, for tests. */
  turnMs?: number;
};

const minuteMs = 60_000;
const hourMs = 3_600_000;

/**
 * When the history is gone through, after the removal: at once, and again for events that were still on their way, or
 * were being sent at that moment.
 */
const passesAfterMs: Record<RemovalRow["kind"], readonly number[]> = {
  user: [0, minuteMs, hourMs, dayMs],
  app: [0, minuteMs, hourMs],
  webhook: [0, 2 * minuteMs],
  segment: [0, minuteMs],
  subscription: [0],
  merge: [0],
};

const soonMs = 10_000; // until JetStream, or an app's document, is asked again
const keptMs = hourMs; // the operator asks anew, more often than that, for as long as the app is to go
const usualTurnMs = 20_000; // an app, endpoint or list may take hours, and what is gone by then stays gone

/** Removals: docs/decisions/0042. That of a person does not give way to others, because erasing begins anew in each run. */
export const removalJob = ({ turnMs = usualTurnMs, ...deps }: RemovalJobDeps): Job => {
  const rows = collectionOf<RemovalRow>(deps.db, removalCollection);
  const { end } = removals(deps.db);
  const never = { due_at: null }; // the job says itself when it is due
  const box = outbox<RemovalRow>({ ...deps, rows, done: never, metrics: deps.metrics.queue });
  const stores = { end, merges: merges(deps.db), subscriptions: subscriptions(deps.db), data: storedData(deps.db) };
  const owners = { apps: apps(deps.db), webhooks: webhookWork(deps.db), segments: segmentWork(deps.db) };
  const deleted = deletions(deps.db);
  const inFiles = eraseFiles({ ...deps, exports: exportWork(deps.db), imports: imports(deps.db) });
  const removeFiles = removeFilesOfPerson(deps.db, deps.files);
  const talksOf: RemoveDeps["talksOf"] = (person, dataset) => idPagesOfPerson(deps.db, dataset, person);
  const joined = {
    ...deps,
    ...stores,
    ...owners,
    deleted,
    talksOf,
    eraseFiles: inFiles,
    removeFiles,
    flush: box.flush,
  };
  return job<RemovalRow>({
    name: "removals",
    rows,
    isApart: true,
    run: async (row, progress) =>
      (await isThere(joined, row)) ? askAgain(joined, row) : resultOf(joined, row, await pass(joined, row, progress)),
    turnMs: ({ kind }) =>
      kind === "app" || kind === "webhook" || kind === "segment" ? turnMs : Number.POSITIVE_INFINITY,
    parts: [box],
  });
};

type RemoveDeps = Pick<RemovalJobDeps, "files" | "stopping"> &
  Pick<Removals, "end"> & {
    subscriptions: Pick<Subscriptions, "remove">;
    merges: Pick<Merges, "finish">;
    /** Whether an app, an endpoint or a segment is really gone. */
    apps: Pick<Apps, "find">;
    webhooks: Pick<WebhookWork, "find">;
    segments: Pick<SegmentWork, "find">;
    data: StoredData;
    deleted: Pick<Deletions, "note">;
    /** The ids of a person's conversations, or of the messages of these, in pages. */
    talksOf: (person: ReturnType<typeof personOf>, dataset: (typeof talks)[number]) => AsyncIterable<string[]>;
    eraseFiles: (person: Person, since: Date | null) => Promise<void>;
    removeFiles: ReturnType<typeof removeFilesOfPerson>;
    /** Publishes the events of a removal; false when that must wait. */
    flush: (row: RemovalRow) => Promise<boolean>;
    clock: Clock;
  };

/** Data of an app, endpoint or segment goes after its document: until then somebody may still decide to keep it. */
const isThere = async (deps: RemoveDeps, { kind, _id }: RemovalRow): Promise<boolean> =>
  (kind === "app" && (await deps.apps.find(_id)) !== null) ||
  (kind === "webhook" && (await deps.webhooks.find(_id)) !== null) ||
  (kind === "segment" && (await deps.segments.find(_id)) !== null);

/** The app, endpoint or segment is about to go, or was kept after all: nothing of it is removed now. */
const askAgain = async ({ end, clock }: RemoveDeps, row: RemovalRow): Promise<JobResult<RemovalRow>> => {
  const now = clock.now().getTime();
  if (now - row.removed_at.getTime() < keptMs) return { end: { dueAt: new Date(now + soonMs) } };
  await end(row);
  return { end: null, facts: { isKept: true } };
};

type Passed = { isPublished: boolean; waiting: number };

const pass = async (deps: RemoveDeps, row: RemovalRow, progress: Progress): Promise<Passed> => {
  await removeRest(deps, row);
  const [published] = await Promise.allSettled([deps.flush(row)]);
  const waiting = await forget(deps, row, progress); // also when its events cannot be published
  if (published.status === "rejected") throw published.reason;
  return { isPublished: published.value, waiting };
};

/** Removes what a kill left, and what was registered meanwhile. */
const removeRest = async (deps: RemoveDeps, row: RemovalRow): Promise<void> => {
  const { kind, _id, tenant_id, app_id } = row;
  const { files, clock, stopping } = deps;
  if (kind === "merge") await deps.merges.finish(row, clock.now());
  if (kind === "app") await removeFilesOfApp(files, app_id, clock.now(), stopping);
  if (kind === "subscription") await deps.subscriptions.remove(tenant_id, _id);
  if (kind === "user") {
    const person = personOf(row);
    await deps.removeFiles(person, clock.now(), stopping); // of conversations, which say which these are
    await deps.data.removePerson(person);
  }
  if (row.passes === 0) await noteDeleted(deps, row);
  if (kind === "user") await noteTalks(deps, row);
};

const personOf = ({ tenant_id, app_id, _id, keys }: RemovalRow) => ({
  tenantId: tenant_id,
  appId: app_id,
  userId: _id,
  keys: new Set(keys),
});

/** For warehouse exports: a person and the subscriptions that they had. One that has moved to another is left out there. */
const noteDeleted = async (deps: RemoveDeps, row: RemovalRow): Promise<void> => {
  const { deleted, clock } = deps;
  const [of, now] = [ofRow(row), clock.now()];
  const owned = row.keys.filter((key) => key.startsWith(`${idPrefixes.subscription}_`));
  if (row.kind === "user") await deleted.note(of, "users", [row._id], now);
  if (row.kind === "user") await deleted.note(of, "subscriptions", owned, now);
  if (row.kind === "subscription") await deleted.note(of, "subscriptions", [row._id], now);
};

/** The same for what is about to be removed of their conversations: in each pass, as some may have come behind the one before. */
const noteTalks = async ({ deleted, clock, talksOf }: RemoveDeps, row: RemovalRow): Promise<void> => {
  for (const dataset of talks)
    for await (const ids of talksOf(personOf(row), dataset)) await deleted.note(ofRow(row), dataset, ids, clock.now());
};

const talks = ["conversations", "conversation_messages"] as const;

/** How many deliveries, or messages of an app, must wait for a later pass. */
const forget = async (
  { data, clock, eraseFiles }: RemoveDeps,
  row: RemovalRow,
  progress: Progress,
): Promise<number> => {
  if (row.kind === "app") return data.removeApp(row.app_id, clock.now(), progress);
  if (row.kind === "webhook") await data.removeWebhook(row._id, progress);
  if (row.kind === "segment") await data.emptyList(row.app_id, row._id, progress);
  if (row.kind !== "user") return 0;
  const { tenant_id: tenantId, app_id: appId, _id: userId, removed_at: at, passes } = row;
  const [keys, isErased] = [new Set(row.keys), row.is_erased === true];
  const person = { tenantId, appId, userId, keys, at, isLast: passes > 0, isErased };
  const waiting = await data.erasePerson(person, progress);
  if (isErased) await eraseFiles(person, seenUntil(row));
  return waiting;
};

/** Until when files were made that the pass before has read; null: there was none. */
const seenUntil = ({ kind, passes, removed_at: at }: RemovalRow): Date | null => {
  if (passes === 0) return null;
  const before = passesAfterMs[kind][Math.min(passes, passesAfterMs[kind].length) - 1] ?? 0;
  return new Date(at.getTime() + before - minuteMs); // clocks differ, and a file is there a moment after its row says so
};

const resultOf = async (
  { end, clock }: RemoveDeps,
  row: RemovalRow,
  { isPublished, waiting }: Passed,
): Promise<JobResult<RemovalRow>> => {
  const facts = { kind: row.kind, pass: row.passes, waiting, isPublished };
  const now = clock.now().getTime();
  if (!isPublished) return { end: { dueAt: new Date(now + soonMs) }, facts };
  const passes = row.passes + 1;
  const afterMs = passesAfterMs[row.kind][passes];
  if (afterMs !== undefined) {
    const dueAt = new Date(Math.max(row.removed_at.getTime() + afterMs, now + minuteMs));
    return { end: { dueAt, set: { passes } }, facts };
  }
  // A delivery that waits ends some day, or is removed with the history of 30 days.
  if (waiting > 0) return { end: { dueAt: new Date(now + dayMs), set: { passes } }, facts };
  await end(row);
  return { end: null, facts };
};
