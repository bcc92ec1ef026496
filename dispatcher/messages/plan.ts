import type { Clock } from "#core/domain/clock.ts";
import type { Settlement } from "#core/queue/jetstream/worker.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/messages.ts";
import { type Lease, underLease } from "../work/lease.ts";
import type { Suspensions } from "../work/suspensions.ts";
import type { Advance } from "./turn.ts";

export type PlanDeps = {
  take: (id: string, now: Date) => Promise<MessageRow | null>;
  extend: (message: MessageRow, now: Date) => Promise<boolean>;
  needsTurn: (id: string, now: Date) => Promise<boolean>;
  app: (id: string) => Promise<AppRow | null>;
  suspensions: Suspensions;
  advance: (message: MessageRow, app: AppRow, hold: Lease) => Promise<Advance>;
  rest: (message: MessageRow, dueAt: Date, planned: boolean) => Promise<boolean>;
  /** Gives it back until its tenant may send again. */
  hold: (message: MessageRow, dueAt: Date, planned: boolean) => Promise<boolean>;
  /** `all` are its deliveries when this turn made them all; else they are counted where they are stored. */
  complete: (message: MessageRow, all?: readonly DeliveryRow[]) => Promise<void>;
  fail: (message: MessageRow, error: string) => Promise<void>;
  stopping: AbortSignal;
  clock: Clock;
};

/** A message whose chunks are under way is looked at this often, in case a chunk's call was lost. */
const lookAgainMs = 10_000;
/** Another turn holds the message: what this hint came for may have happened after that turn looked. */
const turnTakenMs = { first: 50, most: 2_000 }; // doubling: the holder may have been killed
/** Until a turn is tried again that failed, or whose events JetStream did not take. */
const soonMs = 5_000;
/** A schedule missed by more than this fails rather than surprises. Source: decisions 7.2. */
const missedScheduleMs = 86_400_000;

const done: Settlement = { kind: "done" };

/** Gives a message one turn: sends it at once when it is small, lets its next chunks into the queue, or completes it. */
export const plan =
  (deps: PlanDeps) =>
  async (messageId: string, attempt = 1): Promise<Settlement> => {
    const now = deps.clock.now();
    const message = await deps.take(messageId, now);
    if (message === null) {
      const wanted = await deps.needsTurn(messageId, now);
      return wanted ? { ...turnTaken, delayMs: turnTakenDelayMs(attempt) } : done;
    }
    try {
      await begin(deps, message, now);
    } catch (error) {
      await rest(deps, message, { planned: message.planned, inMs: soonMs }).catch(() => false); // else: the lease's end
      throw error;
    }
    return done;
  };

const turnTaken = { kind: "retry", reason: "another turn holds the message" } as const;

const turnTakenDelayMs = (attempt: number): number =>
  Math.min(turnTakenMs.first * 2 ** (attempt - 1), turnTakenMs.most);

const begin = async (deps: PlanDeps, message: MessageRow, now: Date): Promise<void> => {
  const app = await deps.app(message.app_id);
  const refusal = app === null ? "HS_NOT_FOUND: the app is gone" : missedSchedule(message, now);
  if (app === null || refusal !== null) return deps.fail(message, refusal ?? "");
  if (deps.suspensions.has(message.tenant_id)) await hold(deps, message, message.planned);
  else await turn(deps, message, app);
};

const turn = async (deps: PlanDeps, message: MessageRow, app: AppRow): Promise<void> => {
  const extend = (now: Date) => deps.extend(message, now);
  const advance = await deps.suspensions.during(message.tenant_id, (suspended) =>
    underLease({ taken: message, extend, stops: [deps.stopping, suspended], clock: deps.clock }, (hold) =>
      deps.advance(message, app, hold),
    ),
  );
  switch (advance.kind) {
    case "complete":
      return deps.complete(message, advance.all);
    case "under_way":
      await rest(deps, message, { planned: advance.planned, inMs: lookAgainMs });
      return;
    case "halted":
      if (deps.suspensions.has(message.tenant_id)) return void (await hold(deps, message, false));
      await rest(deps, message, { planned: false, inMs: deps.stopping.aborted ? 0 : soonMs });
  }
};

const hold = ({ hold: giveBack, suspensions }: PlanDeps, message: MessageRow, planned: boolean): Promise<boolean> =>
  suspensions.defer(message.tenant_id, (dueAt) => giveBack(message, dueAt, planned));

const rest = (
  { rest: giveBack, clock }: PlanDeps,
  message: MessageRow,
  { planned, inMs }: { planned: boolean; inMs: number },
): Promise<boolean> => giveBack(message, new Date(clock.now().getTime() + inMs), planned);

const missedSchedule = ({ scheduled_for, planned, started_at }: MessageRow, now: Date): string | null => {
  const isFirstTurn = !planned && started_at !== null && started_at >= now;
  const isMissed = scheduled_for !== null && now.getTime() - scheduled_for.getTime() > missedScheduleMs;
  return isFirstTurn && isMissed ? "HS_EXPIRED: missed schedule" : null;
};
