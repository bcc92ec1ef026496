import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { isPassing } from "#core/queue/jetstream/passing.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { OnPage } from "#core/storage/mongo/pages.ts";

/** An app, and for how many days its plan, or it itself, keeps things. */
export type KeptApp = OfApp & { days: number };

export type KeptAppsDeps = {
  /** A page of the apps behind an id, in the order of ids; empty at their end. */
  appsAfter: (id: string) => Promise<KeptApp[]>;
  /** Whether this process is the one that removes now. */
  isOurs: () => Promise<boolean>;
  /** Counts an app of which nothing could be removed. */
  setAside: () => void;
  clock: Clock;
  log: Log;
};

/** What goes once it is kept no longer. */
export type KeptThings = {
  name: string;
  /** The events of the log. */
  says: { failed: string; setAside: string; done: string };
  /** Removes what an app had before an instant; tells after each page how much went, and ends when that throws. */
  remove: (app: KeptApp, before: (days: number) => Date, onPage: OnPage, stop: AbortSignal) => Promise<void>;
};

/** Removes things of apps once they are kept no longer: a pass every six hours, in one process. */
export const removalOfApps = (deps: KeptAppsDeps, things: KeptThings): Part =>
  passes({
    name: things.name,
    everyMs: 6 * 3_600_000,
    failedMs: 600_000,
    pass: (stop) => passOverApps(deps, things, stop),
    onError: (err) => deps.log.warn({ err }, things.says.failed),
  });

/** One pass over every app; stops between pages when the program does. The others go on when an app fails; false then. */
export const passOverApps = async (deps: KeptAppsDeps, things: KeptThings, stop: AbortSignal): Promise<boolean> => {
  let isDone = true;
  for (let after = ""; !stop.aborted && (await deps.isOurs()); ) {
    const apps = await deps.appsAfter(after);
    for (const app of apps) isDone = (await removeOf(deps, things, app, stop)) && isDone;
    const last = apps.at(-1);
    if (last === undefined) return isDone;
    after = last.appId;
  }
  return isDone;
};

const removeOf = async (
  { setAside, clock, log }: KeptAppsDeps,
  { says, remove }: KeptThings,
  app: KeptApp,
  stop: AbortSignal,
): Promise<boolean> => {
  let removed = 0;
  const before = (days: number): Date => new Date(clock.now().getTime() - days * dayMs);
  const onPage: OnPage = (documents) => {
    removed += documents;
    stop.throwIfAborted();
  };
  try {
    await remove(app, before, onPage, stop);
  } catch (err) {
    if (stop.aborted) return true;
    if (isPassing(err)) throw err;
    log.error({ app: app.appId, err }, says.setAside);
    setAside();
    return false;
  } finally {
    if (removed > 0) log.info({ app: app.appId, removed }, says.done);
  }
  return true;
};
