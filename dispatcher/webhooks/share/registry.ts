import { leaseMs } from "../../work/lease.ts";
import type { EndpointQueueDeps } from "../queue/deps.ts";
import { EndpointQueue } from "../queue/endpoint-queue.ts";
import { readMemory } from "../queue/read-memory.ts";
import type { Endpoints } from "./endpoints.ts";

export type QueueRegistryDeps = Omit<EndpointQueueDeps, "memory"> & {
  endpoints: Pick<Endpoints, "take">;
  /** Unique to this process. */
  holder: string;
};

/** The endpoint queues of this process by their endpoint. */
export type QueueRegistry = {
  /** The queue of an endpoint, opened if need be; null when another process holds the lease, or too many are open. */
  queueOf: (endpointId: string) => Promise<EndpointQueue | null>;
  /** The queue of an endpoint when there is one. */
  get: (endpointId: string) => EndpointQueue | undefined;
  all: () => EndpointQueue[];
  isFull: () => boolean;
  /** Asks for the lease next time: another process may have given it back. */
  forgetElsewhere: (endpointId: string) => void;
  /** To be called every 100 ms or so. */
  tick: () => void;
  /** Opens no more queues, and waits until each has finished what is under way and has ended. */
  closeAll: () => Promise<void>;
};

const mostQueues = 1_000;
const elsewhereMs = 1_000; // for so long a lease that another process holds is not asked for again
/** When all queues are taken, those that have been open for longer are ended: what is due of them has them opened again. */
const turnMs = 20_000;

export const queueRegistry = (deps: QueueRegistryDeps): QueueRegistry => {
  const opening = new Map<string, { queue: Promise<EndpointQueue | null>; sinceMs: number }>();
  const open = new Map<string, EndpointQueue>();
  const elsewhere = new Map<string, number>();
  const memory = readMemory();
  let isStopping = false;
  const nowMs = (): number => deps.clock.now().getTime();

  const take = async (id: string): Promise<EndpointQueue | null> => {
    const leased = await deps.endpoints.take(id, { holder: deps.holder, now: deps.clock.now(), leaseMs });
    if (leased === null) {
      elsewhere.set(id, nowMs() + elsewhereMs);
      opening.delete(id);
      return null;
    }
    const queue = new EndpointQueue({ ...deps, memory }, leased);
    await queue.start();
    open.set(id, queue);
    void queue.closed.then(() => open.delete(id) && opening.delete(id));
    return queue;
  };
  const endOldest = (): void => {
    const beforeMs = nowMs() - turnMs;
    for (const [id, queue] of open) if ((opening.get(id)?.sinceMs ?? 0) < beforeMs) queue.release();
  };

  return {
    queueOf: (id) => {
      const known = opening.get(id);
      if (known !== undefined) return known.queue;
      const isElsewhere = (elsewhere.get(id) ?? 0) > nowMs();
      if (isStopping || isElsewhere || opening.size >= mostQueues) return Promise.resolve(null);
      const queue = take(id);
      opening.set(id, { queue, sinceMs: nowMs() });
      queue.catch(() => opening.delete(id));
      return queue;
    },
    get: (id) => open.get(id),
    all: () => [...open.values()],
    isFull: () => opening.size >= mostQueues,
    forgetElsewhere: (id) => void elsewhere.delete(id),
    tick: () => {
      for (const queue of open.values()) queue.tick();
      if (opening.size >= mostQueues) endOldest();
      if (elsewhere.size > mostQueues) elsewhere.clear();
    },
    closeAll: async () => {
      isStopping = true;
      await Promise.allSettled([...opening.values()].map(({ queue }) => queue));
      const all = [...open.values()];
      for (const queue of all) queue.release();
      await Promise.all(all.map((queue) => queue.closed));
    },
  };
};
