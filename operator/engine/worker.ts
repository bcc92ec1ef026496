import { KubeError } from "#core/runtime/kube/errors.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import type { Note } from "../kube/events.ts";
import type { Store, StoreEvent } from "../kube/store.ts";
import type { ControllerMetrics } from "./metrics.ts";
import { isAskedAgain } from "./object-writer.ts";
import type { Passes, Result } from "./reconcile.ts";
import type { Vanished } from "./vanished.ts";
import type { Work, WorkQueue } from "./work-queue.ts";

export type WorkDeps<R extends Resource> = {
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

const passDeadlineMs = 60_000; // every call within a pass has a shorter one of its own

/** Makes one pass over an object, and says when the next one is due. */
export const workOn = <R extends Resource>(deps: WorkDeps<R>) => {
  const { store, queue, open, passes, onEvent, metrics, report } = deps;
  const failedResyncs = new Set<string>(); // what the next try writes is a repair, too
  return async ({ key, priority }: Work, lost: AbortSignal): Promise<void> => {
    open.delete(key);
    const hasFailed = failedResyncs.delete(key);
    const isResync = priority === "resync" || (priority === "again" && hasFailed);
    const signal = AbortSignal.any([lost, AbortSignal.timeout(passDeadlineMs)]);
    const isUndone = await undoGone(deps, key, signal);
    if (!isUndone) return;
    const resource = store.get(key);
    if (resource === undefined) return queue.forget(key);
    const startedAt = performance.now();
    const result = await passes.pass(resource, signal);
    measure(metrics, result, (performance.now() - startedAt) / 1000);
    if (isOpen(result)) open.add(key);
    if (result.kind === "failed") {
      if (isResync) failedResyncs.add(key);
      return retry(queue, key, result.error);
    }
    queue.forget(key);
    if (result.kind === "again") queue.addAfter(key, result.afterMs);
    if (result.verdict?.isChanged !== true) return;
    // dependants may need what was repaired, and no status shows it
    onEvent({ kind: "changed", object: resource, before: resource });
    if (!isResync && !isAskedAgain(resource)) return;
    metrics.repaired();
    report(resource, repaired);
  };
};

/**
 * Removes what was made for objects of the key that were deleted in spite of our finalizer; false when that failed.
 * While one of them has to wait, the object that has its name now is worked on.
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
    onEvent({ kind: "deleted", object }); // who waits for its record or name may take it now
  }
  return true;
};

/** When the API server says when to come again, that counts, and not our back-off. */
const retry = (queue: WorkQueue, key: string, error: unknown): void => {
  if (error instanceof KubeError && error.retryAfterMs !== null) queue.addAfter(key, error.retryAfterMs);
  else queue.addFailed(key);
};

/** Whether the operator has more to do: an object that waits for a person's change is decided. */
const isOpen = (result: Result): boolean =>
  result.kind === "failed" || (result.kind === "again" && result.verdict?.ready.status === "Unknown");

/** Nothing had changed in the resource, and yet something had to be written. */
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
