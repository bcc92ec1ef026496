import type { Clock } from "#core/domain/clock.ts";
import type { KubeClient } from "#core/runtime/kube/client.ts";
import { keyOf, type Resource } from "#core/runtime/kube/objects.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import { resourceApi } from "../kube/api.ts";
import type { Note, Report } from "../kube/events.ts";
import { type ReflectorTiming, reflectors } from "../kube/reflector.ts";
import { partsOf, type Scope } from "../kube/scope.ts";
import type { Store, StoreEvent } from "../kube/store.ts";
import { pause } from "../kube/watch.ts";
import type { Handler } from "./handler.ts";
import type { Term } from "./leadership/leader.ts";
import type { ControllerMetrics } from "./metrics.ts";
import { firstPriority, isNews, priorityOf } from "./priority.ts";
import { reconcileOnce } from "./reconcile.ts";
import { vanished } from "./vanished.ts";
import { type Work, type WorkQueue, workQueue } from "./work-queue.ts";
import { workOn } from "./worker.ts";

export type ControllerDeps<R extends Resource> = {
  definition: ResourceDefinition;
  store: Store<R>;
  handler: Handler<R>;
  /** Called with everything that happens to the kind's objects, so that those which depend on them are requeued. */
  onEvent: (event: StoreEvent<R>) => void;
  client: KubeClient;
  /** For requests that change something: it refuses them while this process does not lead. */
  writes: KubeClient;
  /** Reports to people, by Kubernetes Events. */
  report: Report;
  concurrency: number;
  /** Where it looks. */
  scope: Scope;
  /** Only objects with these labels. */
  labelSelector?: string | undefined;
  timing: ReflectorTiming;
  clock: Clock;
  log: Log;
  metrics: ControllerMetrics;
};

export type Controller = ReturnType<typeof controller>;

const lateMs = 100; // after so long it is looked again whether a late Lease was renewed, or is lost

/**
 * The controller of one kind: `watch` keeps its store up to date, `lead` works through its queue for a term. It is settled
 * when this process leads, no object waits, and every object's last pass succeeded and asked for no other.
 */
export const controller = <R extends Resource>(deps: ControllerDeps<R>) => {
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
  /** A write of ours requeues those that depend on the object: had another changed it, the write would have failed. */
  const onWritten = (resource: R): boolean => {
    // it was deleted meanwhile, and must not come back
    if (store.get(keyOf(resource))?.metadata.uid !== resource.metadata.uid) return false;
    store.put(resource).filter(isNews).forEach(deps.onEvent);
    return true;
  };
  const { watch, synced } = reflectors<R>(
    { ...deps, onEvents, onRestart: metrics.restarted, log },
    partsOf(deps.scope, definition),
  );
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
    queue.open(); // it took nothing before the term, so that a change does not wait behind what a former list showed
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

/** Works on one key after another for as long as the term lasts, and on none while the renewal of the Lease is late. */
const workOff = async ({ stop, lost, isOver }: Term, { queue, work, log }: WorkerDeps): Promise<void> => {
  for (let next = await queue.next(stop); next !== null; next = await queue.next(stop)) {
    const { key } = next;
    while (isOver() && !stop.aborted) await pause(lateMs, stop); // the fence would refuse each pass
    await work(next, lost).catch((error: unknown) => log.error({ key, err: error }, "worker.failed"));
    queue.done(key);
  }
};
