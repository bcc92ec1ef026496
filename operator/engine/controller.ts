import type { Clock } from "#core/domain/clock.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import { collectionPath, resourceApi } from "../kube/api.ts";
import type { KubeClient } from "../kube/client.ts";
import { KubeError } from "../kube/errors.ts";
import type { Note, Report } from "../kube/events.ts";
import { keyOf, type Resource } from "../kube/objects.ts";
import { type ReflectorTiming, reflector } from "../kube/reflector.ts";
import type { Store, StoreEvent } from "../kube/store.ts";
import { pause } from "../kube/watch.ts";
import type { Handler } from "./handler.ts";
import type { Term } from "./leadership/leader.ts";
import type { ControllerMetrics } from "./metrics.ts";
import { type Passes, type Result, reconcileOnce } from "./reconcile.ts";
import { type Vanished, vanished } from "./vanished.ts";
import { type Priority, type Work, type WorkQueue, workQueue } from "./work-queue.ts";

export type ControllerDeps<R extends Resource> = {
  definition: ResourceDefinition;
  store: Store<R>;
  handler: Handler<R>;
  /** Called with everything that happens to the kind's objects, so that those which depend on them are requeued. */
  onEvent: (event: StoreEvent<R>) => void;
  client: KubeClient;
  /** The same, for what changes something: lets nothing out when this process does not lead. */
  writes: KubeClient;
  /** Reports to people, by Kubernetes Events. */
  report: Report;
  concurrency: number;
  /** Only objects with these labels. */
  labelSelector?: string | undefined;
  timing: ReflectorTiming;
  clock: Clock;
  log: Log;
  metrics: ControllerMetrics;
};

/** One kind: its store kept up to date by `watch`, its queue worked off by `lead` while this process is the leader. */
export type Controller = {
  watch: (signal: AbortSignal) => Promise<void>;
  synced: Promise<void>;
  lead: (term: Term) => Promise<void>;
  /** Has an object looked at again. */
  requeue: (key: string, priority: Priority) => void;
  /** Whether this process leads, nothing waits, and no object is one whose last pass failed or asked for another. */
  isSettled: () => boolean;
};

const lateMs = 100; // between looks at whether a late Lease was renewed after all, or is lost
const passDeadlineMs = 60_000; // every call within a pass has a shorter one of its own

export const controller = <R extends Resource>(deps: ControllerDeps<R>): Controller => {
  const { definition, store, metrics } = deps;
  const log = deps.log.child({ kind: definition.kind });
  const queue: WorkQueue = workQueue(metrics.queueHooks(() => queue));
  const open = new Set<string>();
  const gone = vanished<R>();
  let isLed = false;
  const report = (resource: R, note: Note): void => deps.report(definition.kind, resource, note);

  const onEvents = (events: readonly StoreEvent<R>[]): void => {
    for (const event of events) {
      const priority = gone.note(event) ? "deleted" : priorityOf(event);
      if (priority !== null) queue.add(keyOf(event.object), priority);
      if (isNews(event)) deps.onEvent(event);
    }
  };
  /** A write of ours requeues those that depend on the object, not itself: it would have failed on another's change. */
  const onWritten = (resource: R): boolean => {
    if (store.get(keyOf(resource))?.metadata.uid !== resource.metadata.uid) return false; // gone by now: it must not come back
    store.put(resource).filter(isNews).forEach(deps.onEvent);
    return true;
  };
  const { run: watch, synced } = reflector<R>({
    ...deps,
    path: collectionPath(definition),
    onEvents,
    onRestart: metrics.restarted,
    log,
  });
  const passes = reconcileOnce<R>({
    definition,
    handler: deps.handler,
    api: resourceApi<R>(deps.writes, definition),
    onGuard: gone.guard,
    onWritten,
    report,
    clock: deps.clock,
    log,
  });

  const work = workOn<R>({ ...deps, queue, open, gone, passes, report });

  const lead = async (term: Term): Promise<void> => {
    queue.open(); // until now it took nothing: what hurries must not wait behind what was once seen to happen
    for (const object of store.all()) queue.add(keyOf(object), firstPriority(object));
    for (const object of gone.all()) queue.add(keyOf(object), "deleted");
    isLed = true;
    const ticker = setInterval(() => metrics.tick(queue), 5_000);
    await Promise.all(Array.from({ length: deps.concurrency }, () => workOff(term, { queue, work, log })));
    clearInterval(ticker);
    isLed = false;
    queue.close();
    open.clear();
    metrics.tick(queue);
  };

  const isSettled = (): boolean => isLed && open.size === 0 && isIdle(queue);
  return { watch, synced, lead, requeue: queue.add, isSettled };
};

const isIdle = ({ size, running }: WorkQueue): boolean => size() === 0 && [...running()].length === 0;

type WorkerDeps = { queue: WorkQueue; work: (next: Work, lost: AbortSignal) => Promise<void>; log: Log };

/** Takes one key after another for as long as the term lasts, and none while the Lease is late. */
const workOff = async ({ stop, lost, isOver }: Term, { queue, work, log }: WorkerDeps): Promise<void> => {
  for (let next = await queue.next(stop); next !== null; next = await queue.next(stop)) {
    const { key } = next;
    while (isOver() && !stop.aborted) await pause(lateMs, stop); // each pass would only fail at the fence
    await work(next, lost).catch((error: unknown) => log.error({ key, err: error }, "worker.failed"));
    queue.done(key);
  }
};

type WorkDeps<R extends Resource> = {
  store: Store<R>;
  queue: WorkQueue;
  /** Keys of objects whose last pass failed, or asked for another. */
  open: Set<string>;
  gone: Vanished<R>;
  passes: Passes<R>;
  onEvent: (event: StoreEvent<R>) => void;
  metrics: ControllerMetrics;
  report: (resource: R, note: Note) => void;
};

/** One pass, and when the next is to come. */
const workOn = <R extends Resource>(deps: WorkDeps<R>) => {
  const { store, queue, open, passes, onEvent, metrics, report } = deps;
  return async ({ key, priority }: Work, lost: AbortSignal): Promise<void> => {
    open.delete(key);
    const signal = AbortSignal.any([lost, AbortSignal.timeout(passDeadlineMs)]);
    const isUndone = await undoGone(deps, key, signal);
    if (!isUndone) return;
    const resource = store.get(key);
    if (resource === undefined) return queue.forget(key);
    const startedAt = performance.now();
    const result = await passes.pass(resource, signal);
    measure(metrics, result, (performance.now() - startedAt) / 1000);
    if (isOpen(result)) open.add(key);
    if (result.kind === "failed") return retry(queue, key, result.error);
    queue.forget(key);
    if (result.kind === "again") queue.addAfter(key, result.afterMs);
    if (result.verdict?.isChanged !== true) return;
    onEvent({ kind: "changed", object: resource, before: resource }); // a repair need not show in any status
    if (priority !== "resync") return;
    metrics.repaired();
    report(resource, repaired);
  };
};

/**
 * Takes away what was made for objects of the key that went although they had our finalizer; false when that failed. One
 * that has to wait does not hold up the object that has its name now.
 */
const undoGone = async <R extends Resource>(
  { queue, open, gone, passes, onEvent }: WorkDeps<R>,
  key: string,
  signal: AbortSignal,
): Promise<boolean> => {
  for (const object of gone.of(key)) {
    const result = await passes.undo(object, signal);
    if (result.kind === "failed") {
      open.add(key);
      retry(queue, key, result.error);
      return false;
    }
    if (result.kind === "again") {
      queue.addAfter(key, result.afterMs);
      continue;
    }
    gone.forget(object);
    onEvent({ kind: "deleted", object }); // what waits for its record or name may have it now
  }
  return true;
};

/** The API server's own word on when to come again goes before our back-off. */
const retry = (queue: WorkQueue, key: string, error: unknown): void => {
  if (error instanceof KubeError && error.retryAfterMs !== null) queue.addAfter(key, error.retryAfterMs);
  else queue.addFailed(key);
};

/** What waits for somebody else's change is decided as far as the operator goes. */
const isOpen = (result: Result): boolean =>
  result.kind === "failed" || (result.kind === "again" && result.verdict?.ready.status === "Unknown");

/** Nothing was asked for, and yet something had to be written. */
const repaired: Note = {
  type: "Normal",
  reason: "Repaired",
  message: "what had been changed behind the resource's back was set right",
};

const measure = (metrics: ControllerMetrics, result: Result, seconds: number): void => {
  metrics.reconciled({ result: result.kind, seconds, ...(result.kind === "failed" ? { failure: result.error } : {}) });
  if (result.kind === "failed" || result.verdict === undefined) return;
  if (result.verdict.ready.status === "False") metrics.refused();
};

/** None for an event that only repeats what the operator wrote itself. */
const priorityOf = <R extends Resource>(event: StoreEvent<R>): Priority | null => {
  switch (event.kind) {
    case "added":
      return firstPriority(event.object);
    case "same":
      return "resync";
    case "deleted":
      return null;
    case "changed":
      if (concern(event.object) === concern(event.before)) return null;
      return event.object.metadata.deletionTimestamp === undefined ? "changed" : "deleted";
  }
};

/** After a start everything is new to the operator, but what it has seen through before need not hurry. */
const firstPriority = ({ metadata, status }: Resource): Priority => {
  const { observedGeneration } = (status ?? {}) as { observedGeneration?: number }; // of the CRD's schema
  return observedGeneration === metadata.generation ? "resync" : "new";
};

/** Whether an event is news to those that depend on the object; that it got our finalizer is not. */
const isNews = <R extends Resource>(event: StoreEvent<R>): boolean =>
  event.kind !== "same" && (event.kind !== "changed" || visible(event.object) !== visible(event.before));

const visible = ({ metadata, status }: Resource): string =>
  JSON.stringify([metadata.generation, metadata.deletionTimestamp, metadata.annotations, status]);

/** The parts of an object that a person can change and that matter here. */
const concern = ({ metadata }: Resource): string =>
  JSON.stringify([metadata.generation, metadata.deletionTimestamp, metadata.annotations, metadata.finalizers]);
