import type { Settlement } from "#core/queue/jetstream/worker.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Suspensions } from "../../work/suspensions.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { Endpoints } from "./endpoints.ts";
import { type QueueRegistryDeps, queueRegistry } from "./registry.ts";
import { type ShareDeps, type Sharing, sharing } from "./share.ts";

export type EndpointQueuesDeps = QueueRegistryDeps &
  ShareDeps & {
    endpoints: Pick<Endpoints, "exists" | "notifyHolder">;
    deliveries: Pick<Deliveries, "removePage">;
    suspensions: Pick<Suspensions, "onResume">;
  };

/** The endpoints that this process holds. */
export type EndpointQueues = Part & {
  share: Sharing["share"];
  /** Answers an endpoint hint: the endpoint has due deliveries, or is gone. */
  answer: (endpointId: string) => Promise<Settlement>;
  /** Somebody has deliveries for an endpoint that may be held here. */
  nudge: (endpointId: string) => void;
  /** The configuration of an endpoint changed; `*` is any. */
  refresh: (endpointId: string) => void;
  levels: () => { held: number; inFlight: number; unstored: number };
};

const tickMs = 100;
const pagesRemoved = 10; // in one answer to an endpoint hint

export const endpointQueues = (deps: EndpointQueuesDeps): EndpointQueues => {
  const registry = queueRegistry(deps);
  const { share, unstored } = sharing(deps, registry);
  deps.suspensions.onResume((tenantId) => {
    for (const queue of registry.all()) if (queue.tenantId === tenantId) queue.nudge();
  });
  let timer: NodeJS.Timeout | undefined;
  return {
    name: "webhook endpoint queues",
    start: async () => {
      timer = setInterval(registry.tick, tickMs);
    },
    stop: async (signal) => {
      await Promise.race([registry.closeAll(), aborted(signal)]);
      clearInterval(timer);
    },
    share,
    answer: async (id) => {
      const held = registry.get(id);
      if (held?.nudge() === true) {
        if (await deps.endpoints.exists(id)) return { kind: "done" };
        held.refresh(); // it was deleted: the queue finds out and closes
      }
      if (held !== undefined) return { kind: "retry", delayMs: tickMs, reason: "it is just being given back" };
      registry.forgetElsewhere(id);
      if (registry.isFull()) return { kind: "retry", delayMs: 1_000, reason: "all endpoint queues are taken" };
      const queue = await registry.queueOf(id);
      if (queue !== null) queue.nudge();
      else if (await deps.endpoints.exists(id)) deps.endpoints.notifyHolder(id);
      else if (!(await areRemoved(deps, id)))
        return { kind: "retry", delayMs: tickMs, reason: "there is more to remove" };
      return { kind: "done" };
    },
    nudge: (id) => void registry.get(id)?.nudge(),
    refresh: (id) => {
      if (id === "*") for (const queue of registry.all()) queue.refresh();
      else registry.get(id)?.refresh();
    },
    levels: () => {
      const all = [...registry.all()];
      return {
        held: all.length,
        inFlight: all.reduce((sum, queue) => sum + queue.underWay, 0),
        unstored: unstored(),
      };
    },
  };
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** An endpoint that was deleted leaves its deliveries behind. False when some are left: others' hints wait too. */
const areRemoved = async ({ deliveries }: Pick<EndpointQueuesDeps, "deliveries">, id: string): Promise<boolean> => {
  for (let page = 0; page < pagesRemoved; page++) if ((await deliveries.removePage(id)) === 0) return true;
  return false;
};
