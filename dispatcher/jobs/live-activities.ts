import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { countedDeliveries } from "#core/storage/analytics/counted-deliveries.ts";
import type { Directory } from "#core/storage/directory.ts";
import {
  activities,
  type LiveActivityRow,
  liveActivityCollection,
  unsentAfter,
} from "#core/storage/live-activities/activities.ts";
import { activityChannels } from "#core/storage/live-activities/channels.ts";
import { type ActivityRecipientRow } from "#core/storage/live-activities/recipient-row.ts";
import { activityRecipients } from "#core/storage/live-activities/recipients.ts";
import { liveActivityMessages } from "#core/storage/messages/live-activities.ts";
import { receiptStore } from "#core/storage/messages/receipts.ts";
import { waitingDeliveries } from "#core/storage/messages/waiting.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { drop, type SendHeld } from "../live-activities/send-held.ts";
import type { Suspensions } from "../work/suspensions.ts";
import type { Job, JobResult, Progress } from "./job.ts";
import { job } from "./run.ts";

export type LiveActivityJobDeps = {
  db: Db;
  directory: Pick<Directory, "app">;
  suspensions: Pick<Suspensions, "has">;
  sendHeld: SendHeld;
  /** Aborts when nothing new is to be begun. */
  stopping: AbortSignal;
  clock: Clock;
};

const page = 500;
const suspendedMs = 60_000;
const recheckMs = 60_000; // longer than a lease: by then the activity is gone, or its job has run again

/**
 * What is due of live activities: updates that waited for tokens which have come are sent, those that have waited too long
 * are given up, an activity that is over on every device ends, and one that was never sent is removed. Source:
 * docs/decisions/0073.
 */
export const liveActivityJob = (deps: LiveActivityJobDeps): Job => {
  const store = stores(deps);
  return job<LiveActivityRow>({
    name: "live_activities",
    rows: collectionOf<LiveActivityRow>(deps.db, liveActivityCollection),
    isShort: true,
    everyMs: 500, // people look at what waits for a token
    run: async (row, progress) => {
      if (deps.suspensions.has(row.tenant_id)) return { end: { dueAt: later(deps, suspendedMs) } };
      const unsent = await removeUnsent({ ...deps, ...store }, row);
      if (unsent !== null) return unsent;
      const again = await work({ ...deps, ...store }, row, progress);
      return endOf({ ...deps, ...store }, row, again);
    },
  });
};

const stores = ({ db }: LiveActivityJobDeps) => ({
  activities: activities(db),
  channels: activityChannels(db),
  activityRecipients: activityRecipients(db),
  sent: liveActivityMessages(db),
  waiting: waitingDeliveries(db),
  recount: receiptStore(db).recount,
  usage: countedDeliveries(db),
});

type Stored = LiveActivityJobDeps & ReturnType<typeof stores>;

const later = ({ clock }: Pick<LiveActivityJobDeps, "clock">, ms: number): Date => new Date(clock.now().getTime() + ms);

/**
 * A start stores the activity before its message: one that was cut short in between leaves an activity that is on no device.
 * Null for any other. The channel is looked at again once the activity is gone, also after a kill in between.
 */
const removeUnsent = async (deps: Stored, row: LiveActivityRow): Promise<JobResult<LiveActivityRow> | null> => {
  if (row.status !== "running" || row.turns > 0 || (await deps.sent.latest(row._id, 1)).length > 0) return null;
  const mayBeSent = unsentAfter(row.updated_at);
  if (mayBeSent > deps.clock.now()) return { end: { dueAt: mayBeSent } };
  if (row.channel !== undefined) await deps.channels.recheck(row.channel.id, later(deps, recheckMs));
  const isGone = await deps.activities.removeUnsent(row);
  return { end: isGone ? null : { dueAt: later(deps, recheckMs) }, facts: { activity: row.activity_id, isGone } };
};

/** Handles a page of what is held after another; the instant to look again at, when something could not be sent. */
const work = async (deps: Stored, row: LiveActivityRow, progress: Progress): Promise<Date | null> => {
  for (;;) {
    const now = deps.clock.now();
    const ready = await deps.activityRecipients.ready(row._id, page);
    const late = await deps.activityRecipients.late(row._id, now, page);
    for (const [messageId, devices] of byMessage(late))
      await drop(deps, { message: { _id: messageId }, devices }, "expired");
    const again = await sendReady(deps, row, ready);
    progress(ready.length + late.length); // throws when no further page is to be begun
    if (again !== null || Math.max(ready.length, late.length) < page) return again;
  }
};

const byMessage = (devices: readonly ActivityRecipientRow[]): Map<string, ActivityRecipientRow[]> =>
  Map.groupBy(devices, ({ held_message_id: id }) => id ?? "");

const sendReady = async (
  deps: Stored,
  { app_id: appId }: LiveActivityRow,
  ready: readonly ActivityRecipientRow[],
): Promise<Date | null> => {
  if (ready.length === 0) return null;
  const groups = byMessage(ready);
  const found = await deps.sent.byIds([...groups.keys()]);
  const messages = new Map(found.map((message) => [message._id, message]));
  const app = await deps.directory.app(appId);
  const lease = { isLost: () => false, isOver: () => deps.stopping.aborted };
  const instants: Date[] = [];
  for (const [messageId, devices] of groups) {
    const message = messages.get(messageId);
    const isGone = message === undefined || app === null;
    if (isGone) await drop(deps, { message: { _id: messageId }, devices }, "expired");
    else instants.push(...listOf(await deps.sendHeld({ message, app, devices }, lease)));
  }
  return instants[0] ?? null;
};

/** Something is to be done when it is over on every device. */
const needsEnd = ({ status, channel }: LiveActivityRow): boolean => status === "running" || channel !== undefined;

const listOf = <T>(value: T | null): T[] => (value === null ? [] : [value]);

const endOf = async (deps: Stored, row: LiveActivityRow, again: Date | null): Promise<JobResult<LiveActivityRow>> => {
  const now = deps.clock.now();
  const isOver = row.status === "running" && row.ends_at <= now;
  if (isOver) await deps.activities.end(row._id, "system", now);
  const current = await deps.activities.byKey(row._id); // it may have been prolonged, or ended, meanwhile
  const { channel } = row;
  if (channel !== undefined && current !== null && current.ends_at <= now)
    await deps.channels.remove(channel.id, now, now); // whoever was off has had the time to learn of the end
  const instants = [
    ...listOf(again),
    ...listOf(await deps.activityRecipients.waitsUntil(row._id)),
    ...(current !== null && needsEnd(current) && current.ends_at > now ? [current.ends_at] : []),
  ];
  const dueAt = instants.reduce<Date | null>((first, at) => (first === null || at < first ? at : first), null);
  return {
    end: { dueAt },
    facts: { activity: row.activity_id, isOver },
    after: () => void look(deps, row._id).catch(() => undefined), // it is looked at when the holding ends, at the latest
  };
};

/** A token may have come after the last look and before this run gave the document back. */
const look = async ({ activityRecipients, activities, clock }: Stored, id: string): Promise<void> => {
  const ready = await activityRecipients.ready(id, 1);
  if (ready.length > 0) await activities.dueBy(id, clock.now());
};
