import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { isPassing } from "#core/queue/jetstream/passing.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { ConversationRetention } from "#core/storage/conversations/retention.ts";

type KeptApp = { tenantId: string; appId: string; days: number };

export type ConversationsPurgeDeps = ConversationRetention & {
  /** A page of the apps behind an id, in the order of ids, with the days that each keeps; empty at their end. */
  appsAfter: (id: string) => Promise<KeptApp[]>;
  /** Whether this process is the one that removes now. */
  isOurs: () => Promise<boolean>;
  /** Counts an app whose conversations could not be removed. */
  setAside: () => void;
  clock: Clock;
  log: Log;
};

/** Removes conversations that are over for as long as the plan, or the app, keeps messages: a pass every six hours, in one process. */
export const conversationsPurge = (deps: ConversationsPurgeDeps): Part =>
  passes({
    name: "conversation retention",
    everyMs: 6 * 3_600_000,
    failedMs: 600_000,
    pass: (stop) => conversationsPass(deps, stop),
    onError: (err) => deps.log.warn({ err }, "conversation_retention.failed"),
  });

/** One pass over every app; stops between conversations when the program does. The others go on when an app fails; false then. */
export const conversationsPass = async (deps: ConversationsPurgeDeps, stop: AbortSignal): Promise<boolean> => {
  let isDone = true;
  for (let after = ""; !stop.aborted && (await deps.isOurs()); ) {
    const apps = await deps.appsAfter(after);
    for (const app of apps) isDone = (await removeOfApp(deps, app, stop)) && isDone;
    const last = apps.at(-1);
    if (last === undefined) return isDone;
    after = last.appId;
  }
  return isDone;
};

const removeOfApp = async (
  { removeOldest, isOurs, setAside, clock, log }: ConversationsPurgeDeps,
  app: KeptApp,
  stop: AbortSignal,
): Promise<boolean> => {
  const before = new Date(clock.now().getTime() - app.days * dayMs);
  let conversations = 0;
  try {
    while (await isOurs()) {
      const removed = await removeOldest(app, before, clock.now(), stop);
      if (removed === 0) break;
      conversations += removed;
    }
  } catch (err) {
    if (stop.aborted) return true;
    if (isPassing(err)) throw err;
    log.error({ app: app.appId, err }, "conversation_retention.set_aside");
    setAside();
    return false;
  } finally {
    if (conversations > 0) log.info({ app: app.appId, conversations, before }, "conversation_retention.done");
  }
  return true;
};
