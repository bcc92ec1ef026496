import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { NotBegun, type Outcome } from "#core/domain/messages/outcome.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type AppRow, apps } from "#core/storage/apps/apps.ts";
import { activities, activityKey, unsentAfter } from "#core/storage/live-activities/activities.ts";
import {
  type ActivityChannelRow,
  activityChannelCollection,
  activityChannels,
} from "#core/storage/live-activities/channels.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { OpenAccount } from "../channels/accounts.ts";
import type { BroadcastChannels } from "../channels/kit/provider.ts";
import { openOr } from "../channels/registry.ts";
import type { Job, JobResult } from "./job.ts";
import { job } from "./run.ts";

export type ActivityChannelJobDeps = {
  db: Db;
  openAccount: OpenAccount;
  /** Aborts when the program stops. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
};

const againMs = 30_000;
const timeoutMs = 20_000;

/** Makes broadcast channels at Apple, deletes them there, and gives back what no activity uses: docs/decisions/0074. */
export const activityChannelJob = (deps: ActivityChannelJobDeps): Job => {
  const channels = activityChannels(deps.db);
  const { find } = apps(deps.db);
  return job<ActivityChannelRow>({
    name: "live_activity_channels",
    rows: collectionOf<ActivityChannelRow>(deps.db, activityChannelCollection),
    isShort: true,
    run: async (row) => {
      const app = await find(row.app_id);
      const { status, apns_channel_id: apnsId } = row;
      if (status === "deleting" && (apnsId === null || app?.channels.ios_push === undefined)) {
        await channels.drop(row); // Apple has none, or nobody could tell Apple
        return { end: null, facts: { status } };
      }
      if (status === "used") return recheck(deps, row);
      if (app === null || (status !== "creating" && status !== "deleting")) return { end: { dueAt: null } };
      return withChannels(deps, app, (apple, signal) =>
        status === "creating" ? create(deps, row, apple, signal) : remove(deps, row, apple, signal),
      );
    },
  });
};

type Result = JobResult<ActivityChannelRow>;

/** A start takes a channel before it stores its activity: what one leaves that was cut short, another may have. */
const recheck = async ({ db, clock }: ActivityChannelJobDeps, row: ActivityChannelRow): Promise<Result> => {
  const now = clock.now();
  const activity = await activities(db).byKey(activityKey(row.app_id, row.activity_id ?? ""));
  if (activity?.channel?.id === row._id) return { end: { dueAt: null } };
  const mayBeStored = unsentAfter(row.updated_at);
  if (activity === null && mayBeStored > now) return { end: { dueAt: mayBeStored } };
  const isReady = await activityChannels(db).giveBack(row, now);
  return isReady ? { end: null, facts: { status: "ready" } } : again(now);
};

/** Opens the account anew, for a request or two in a day. */
const withChannels = async (
  { openAccount, log, stopping, clock }: ActivityChannelJobDeps,
  app: AppRow,
  work: (apple: BroadcastChannels, signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const account = openOr({ open: openAccount, log }, app, "ios_push");
  const { broadcast } = account;
  try {
    if (broadcast === undefined) return failed("the app has no usable account for ios_push", clock.now());
    return await work(broadcast, AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]));
  } catch (error) {
    if (error instanceof NotBegun) return again(clock.now());
    throw error;
  } finally {
    await broadcast?.close();
    await account.close();
  }
};

const create = async (
  { clock }: ActivityChannelJobDeps,
  row: ActivityChannelRow,
  apple: BroadcastChannels,
  signal: AbortSignal,
): Promise<Result> => {
  const made = await apple.create(row.stores_latest, signal);
  const now = clock.now();
  if (made.kind === "refused") return refused(made.outcome, now);
  const set = { status: "ready" as const, apns_channel_id: made.id, error: null, updated_at: now };
  return { end: { dueAt: null, set }, facts: { status: "ready" } };
};

const remove = async (
  { db, clock }: ActivityChannelJobDeps,
  row: ActivityChannelRow,
  apple: BroadcastChannels,
  signal: AbortSignal,
): Promise<Result> => {
  const outcome = await apple.remove(row.apns_channel_id ?? "", signal);
  if (outcome !== null) return { ...again(clock.now()), facts: { status: "deleting", outcome: outcome.kind } };
  await activityChannels(db).drop(row);
  return { end: null, facts: { status: "deleted" } };
};

/** What may work later is tried again; an answer that was lost, too: a channel more at Apple harms nobody. */
const refused = (outcome: Outcome, now: Date): Result => {
  if (outcome.kind === "retry_at" || outcome.kind === "uncertain") return again(now);
  return failed("reason" in outcome ? outcome.reason : "Apple made no channel", now);
};

const again = (now: Date): Result => ({ end: { dueAt: new Date(now.getTime() + againMs) } });

const failed = (error: string, now: Date): Result => ({
  end: { dueAt: null, set: { status: "failed", error, updated_at: now } },
  facts: { status: "failed", error },
});
