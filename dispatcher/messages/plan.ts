import type { Clock } from "#core/domain/clock.ts";
import { dayMs, sweepMs } from "#core/domain/durations.ts";
import type { Timing } from "#core/domain/timing.ts";
import type { Settlement } from "#core/queue/jetstream/worker.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Left } from "#core/storage/messages/work.ts";
import { inTrace } from "../work/in-trace.ts";
import type { Suspensions } from "../work/suspensions.ts";
import { mayBeUntouched } from "./beginning.ts";
import { nextLook } from "./decide.ts";
import type { Finish } from "./finish.ts";
import { whileAllowed } from "./lease.ts";
import type { Turn, TurnResult } from "./turn.ts";

export type PlanDeps = {
  messages: {
    take: (id: string, now: Date) => Promise<MessageRow | null>;
    extend: (message: MessageRow, now: Date) => Promise<boolean>;
    needsTurn: (id: string, now: Date) => Promise<boolean>;
    rest: (message: MessageRow, dueAt: Date, left: Left) => Promise<boolean>;
    /** Gives it back until its tenant may send again. */
    defer: (message: MessageRow, dueAt: Date, left: Left) => Promise<boolean>;
  };
  /** One of these segments that is gone, by its id. */
  segments: { goneOf: (appId: string, ids: readonly string[]) => Promise<string | null> };
  directory: Pick<Directory, "app">;
  /** Chooses the variant that the rest of a message gets, once it is time; gives the message as it is then. */
  decide: (message: MessageRow) => Promise<MessageRow>;
  turn: Turn;
  finish: Finish;
  suspensions: Suspensions;
  timing: Pick<Timing, "leaseMs">;
  stopping: AbortSignal;
  clock: Clock;
};

/** Another turn has the message: what this hint came for may have happened after that turn looked. */
const turnTakenMs = { first: 50, most: 2_000 }; // doubling: the holder of the lease may have been killed
/** Then a turn is tried again that failed, or whose events JetStream did not take. */
const soonMs = 5_000;
const done: Settlement = { kind: "done" };

/** Plans a message: gives it one turn, which sends it, lets its next chunks into the queue, or finds it complete. */
export const planMessage =
  (deps: PlanDeps) =>
  async (messageId: string, attempt = 1, traceparent: string | null = null): Promise<Settlement> => {
    const now = deps.clock.now();
    const taken = await deps.messages.take(messageId, now);
    if (taken === null) return (await deps.messages.needsTurn(messageId, now)) ? turnTaken(attempt) : done;
    const message = inTrace(taken, traceparent);
    try {
      await plan(deps, message, now);
    } catch (error) {
      await rest(deps, message, { planned: message.planned, inMs: soonMs }).catch(() => false); // else: the lease's end
      throw error;
    }
    return done;
  };

const turnTaken = (attempt: number): Settlement => ({
  kind: "retry",
  reason: "another turn has the message",
  delayMs: Math.min(turnTakenMs.first * 2 ** (attempt - 1), turnTakenMs.most),
});

const plan = async (deps: PlanDeps, message: MessageRow, now: Date): Promise<void> => {
  const app = await deps.directory.app(message.app_id);
  if (app === null) return deps.finish.fail(message, "HS_NOT_FOUND: the app is gone");
  if (isMissedSchedule(message, now)) return deps.finish.fail(message, "HS_EXPIRED: missed schedule");
  const gone = await goneSegment(deps, message);
  if (gone !== null) return deps.finish.fail(message, `HS_NOT_FOUND: segment ${gone}`);
  if (deps.suspensions.has(message.tenant_id))
    return defer(deps, message, { planned: message.planned, isUntouched: mayBeUntouched(message) });
  await giveTurn(deps, message, app);
};

/** A segment that its target names, or that such a one names, and that was deleted by force while it was queued. */
const goneSegment = async ({ segments }: PlanDeps, message: MessageRow): Promise<string | null> => {
  const { app_id: appId, fence, segment_ids: ids = [] } = message;
  const isQueued = fence === 1 || mayBeUntouched(message);
  return isQueued && ids.length > 0 ? segments.goneOf(appId, ids) : null;
};

const giveTurn = async (deps: PlanDeps, taken: MessageRow, app: AppRow): Promise<void> => {
  const message = await deps.decide(taken);
  const extend = (now: Date) => deps.messages.extend(message, now);
  const result = await whileAllowed(deps, { taken: message, extend }, (lease) => deps.turn(message, app, lease));
  switch (result.kind) {
    case "complete":
      return deps.finish.complete(message, result.all);
    case "under_way":
      return void (await rest(deps, message, { planned: result.planned, inMs: nextTurnMs(deps, result, message) }));
    case "halted": {
      const left = { planned: false, isUntouched: result.isUntouched === true };
      if (deps.suspensions.has(message.tenant_id)) return defer(deps, message, left);
      await rest(deps, message, { ...left, inMs: deps.stopping.aborted ? 0 : soonMs });
    }
  }
};

/** A message of which nothing is queued is left alone until something of it is due. */
const nextTurnMs = (
  { clock }: PlanDeps,
  { nextDue, isIdle }: Extract<TurnResult, { kind: "under_way" }>,
  message: MessageRow,
): number => {
  if (nextDue === undefined) return sweepMs;
  const now = clock.now();
  const lookMs = nextLook(message, now)?.getTime() ?? Infinity;
  const inMs = Math.max(0, Math.min(nextDue.getTime(), lookMs) - now.getTime());
  return isIdle === true ? inMs : Math.min(inMs, sweepMs);
};

const defer = async ({ messages, suspensions }: PlanDeps, message: MessageRow, left: Left): Promise<void> => {
  await suspensions.defer(message.tenant_id, (dueAt) => messages.defer(message, dueAt, left));
};

const rest = (
  { messages, clock }: PlanDeps,
  message: MessageRow,
  { inMs, ...left }: Left & { inMs: number },
): Promise<boolean> => messages.rest(message, new Date(clock.now().getTime() + inMs), left);

/** A message that is a day later than its schedule fails. Source: docs/reference/messages.md#scheduling. */
const isMissedSchedule = ({ scheduled_for, planned, started_at }: MessageRow, now: Date): boolean => {
  const isFirstTurn = !planned && started_at !== null && started_at >= now;
  return isFirstTurn && scheduled_for !== null && now.getTime() - scheduled_for.getTime() > dayMs;
};
