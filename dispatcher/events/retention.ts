import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { isPassing } from "#core/queue/jetstream/passing.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { OnPage } from "#core/storage/mongo/pages.ts";

/** An app, and how long its plan keeps events. */
export type AppRetention = { tenantId: string; appId: string; days: number };

export type EventRetentionDeps = {
  /** A page of the apps behind an id, in the order of ids; empty at their end. */
  appsAfter: (id: string) => Promise<AppRetention[]>;
  /** The first name of an app's events behind another; null when there is none. */
  nextName: (app: AppRetention, after: string) => Promise<string | null>;
  /** How long the definition of a name keeps events; null: it does not say. */
  daysOf: (app: AppRetention, name: string) => Promise<number | null>;
  removeOlder: (appId: string, name: string, before: Date, onPage: OnPage) => Promise<void>;
  /** Whether this process is the one that removes now. */
  isOurs: () => Promise<boolean>;
  /** Counts an app whose events could not be removed. */
  setAside: () => void;
  clock: Clock;
  log: Log;
};

/** Removes events once their definition, or the plan, keeps them no longer: a pass every six hours, in one process. */
export const eventRetention = (deps: EventRetentionDeps): Part =>
  passes({
    name: "event retention",
    everyMs: 6 * 3_600_000,
    failedMs: 600_000,
    pass: (stop) => retentionPass(deps, stop),
    onError: (err) => deps.log.warn({ err }, "event_retention.failed"),
  });

/** One pass over every app; stops between pages when the program does. The others go on when an app fails; false then. */
export const retentionPass = async (deps: EventRetentionDeps, stop: AbortSignal): Promise<boolean> => {
  let isDone = true;
  let after = "";
  while (!stop.aborted && (await deps.isOurs())) {
    const apps = await deps.appsAfter(after);
    for (const app of apps) isDone = (await removeOfApp(deps, app, stop)) && isDone;
    const last = apps.at(-1);
    if (last === undefined) return isDone;
    after = last.appId;
  }
  return isDone;
};

const removeOfApp = async (deps: EventRetentionDeps, app: AppRetention, stop: AbortSignal): Promise<boolean> => {
  let removed = 0;
  try {
    for (
      let name = await deps.nextName(app, "");
      name !== null && !stop.aborted;
      name = await deps.nextName(app, name)
    ) {
      const days = Math.min((await deps.daysOf(app, name)) ?? app.days, app.days);
      const before = new Date(deps.clock.now().getTime() - days * dayMs);
      await deps.removeOlder(app.appId, name, before, (documents) => {
        removed += documents;
        stop.throwIfAborted();
      });
    }
  } catch (err) {
    if (stop.aborted) return true;
    if (isPassing(err)) throw err;
    deps.log.error({ app: app.appId, err }, "event_retention.set_aside");
    deps.setAside();
    return false;
  } finally {
    if (removed > 0) deps.log.info({ app: app.appId, events: removed }, "event_retention.done");
  }
  return true;
};
