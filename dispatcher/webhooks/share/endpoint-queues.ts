import { once } from "node:events";
import type { Settlement } from "#core/queue/jetstream/worker.ts";
import type { WebhookLevels } from "#core/runtime/metrics/webhooks.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Suspensions } from "../../work/suspensions.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { Endpoints } from "./endpoints.ts";
import { type QueueRegistryDeps, queueRegistry } from "./registry.ts";
import { type Share, type ShareDeps, sharing } from "./share.ts";

export type EndpointQueuesDeps = QueueRegistryDeps &
  ShareDeps & {
    endpoints: Pick<Endpoints, "exists" | "notifyHolder" | "onNotice">;
    deliveries: Pick<Deliveries, "removePage">;
    suspensions: Pick<Suspensions, "onResume">;
  };

/** The queues of the endpoints whose leases this process holds. */
export type EndpointQueues = Part & {
  share: Share;
  /** Answers an endpoint hint: the endpoint has due deliveries, or is gone. */
  answer: (endpointId: string) => Promise<Settlement>;
  /** The configuration of an endpoint changed; `*` is any. */
  refresh: (endpointId: string) => void;
  levels: WebhookLevels;
};

const tickMs = 100;
const pagesRemoved = 10; // in one answer to an endpoint hint

export const endpointQueues = (deps: EndpointQueuesDeps): EndpointQueues => {
  const registry = queueRegistry(deps);
  deps.suspensions.onResume((tenantId) => {
    for (const queue of registry.all()) if (queue.tenantId === tenantId) queue.nudge();
  });
  let timer: NodeJS.Timeout | undefined;
  let endNotices: (() => void) | undefined;
  return {
    name: "webhook endpoint queues",
    start: async () => {
      endNotices = await deps.endpoints.onNotice((id) => registry.get(id)?.nudge());
      timer = setInterval(registry.tick, tickMs);
    },
    stop: async (signal) => {
      await Promise.race([registry.closeAll(), signal.aborted || once(signal, "abort")]);
      clearInterval(timer);
      endNotices?.();
    },
    share: sharing(deps, registry),
    answer: async (id) => {
      const open = registry.get(id);
      if (open?.nudge() === true) {
        if (await deps.endpoints.exists(id)) return { kind: "done" };
        open.refresh(); // it was deleted: the queue finds out and closes
      }
      if (open !== undefined) return { kind: "retry", delayMs: tickMs, reason: "it is just being given back" };
      registry.forgetElsewhere(id);
      if (registry.isFull()) return { kind: "retry", delayMs: 1_000, reason: "all endpoint queues are taken" };
      const queue = await registry.queueOf(id);
      if (queue !== null) queue.nudge();
      else if (await deps.endpoints.exists(id)) deps.endpoints.notifyHolder(id);
      else if (!(await areRemoved(deps, id)))
        return { kind: "retry", delayMs: tickMs, reason: "there is more to remove" };
      return { kind: "done" };
    },
    refresh: (id) => {
      if (id === "*") for (const queue of registry.all()) queue.refresh();
      else registry.get(id)?.refresh();
    },
    levels: {
      endpointQueues: () => registry.all().length,
      inFlight: () => registry.all().reduce((sum, queue) => sum + queue.underWay, 0),
    },
  };
};

/** Removes deliveries of an endpoint that was deleted. False when some are left: hints of others must not wait for them. */
const areRemoved = async ({ deliveries }: Pick<EndpointQueuesDeps, "deliveries">, id: string): Promise<boolean> => {
  for (let page = 0; page < pagesRemoved; page++) if ((await deliveries.removePage(id)) === 0) return true;
  return false;
};
