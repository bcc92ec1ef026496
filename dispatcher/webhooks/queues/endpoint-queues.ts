import { shareOf } from "#core/domain/webhooks/shares.ts";
import type { WebhookLevels } from "#core/runtime/metrics/webhooks.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { HealthNotes } from "../health/notes.ts";
import type { Endpoints } from "../shares/endpoints.ts";
import { type Place, type PlacingDeps, placing } from "./placing.ts";
import { QueueRegistry, type QueueRegistryDeps } from "./registry.ts";

export type EndpointQueuesDeps = QueueRegistryDeps &
  PlacingDeps & { endpoints: Pick<Endpoints, "onNotice">; notes: Pick<HealthNotes, "flush"> };

/** The queues of the endpoints that this process owns. */
export type EndpointQueues = Part & {
  place: Place;
  /** Something is due for an endpoint at an instant. */
  expect: (endpointId: string, dueAt: Date) => void;
  /** An endpoint, or what waits for it, has changed; `*` is any. */
  refresh: (endpointId: string) => void;
  /** Ends the queues of a share, for which nothing new is begun; resolves when nothing is under way or in memory. */
  drain: (share: number) => Promise<void>;
  /** Another process has taken a share. */
  lose: (share: number) => void;
  levels: Pick<WebhookLevels, "endpointQueues" | "inFlight">;
};

const tickMs = 100;
const now = new Date(0);

export const endpointQueues = (deps: EndpointQueuesDeps): EndpointQueues => {
  const registry = new QueueRegistry(deps);
  let timer: NodeJS.Timeout | undefined;
  let endNotices: (() => void) | undefined;
  /** Only for endpoints of this process. */
  const expect = (id: string, dueAt: Date): void => {
    if (deps.shares.isOwned(shareOf(id))) registry.expect(id, dueAt.getTime());
  };
  return {
    name: "webhook endpoint queues",
    start: async () => {
      endNotices = await deps.endpoints.onNotice((id) => expect(id, now));
      timer = setInterval(() => registry.tick(), tickMs);
    },
    stop: async () => {
      clearInterval(timer);
      endNotices?.();
    },
    place: placing(deps, registry),
    expect,
    refresh: (id) => {
      const queues = id === "*" ? registry.all() : [registry.get(id) ?? []].flat();
      for (const queue of queues) queue.refresh();
      if (queues.length === 0) expect(id, now);
    },
    drain: async (share) => {
      await registry.release(share);
      await deps.notes.flush().catch(() => undefined); // the store is away: nothing can be given up either
    },
    lose: (share) => {
      for (const queue of registry.all()) if (shareOf(queue.endpointId) === share) queue.lose();
    },
    levels: {
      endpointQueues: () => registry.all().length,
      inFlight: () => registry.all().reduce((sum, queue) => sum + queue.underWay, 0),
    },
  };
};
