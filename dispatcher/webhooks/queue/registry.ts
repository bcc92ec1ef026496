import type { WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import { leaseMs } from "../../work/lease.ts";
import type { LaneDeps } from "./deps.ts";
import { Lane } from "./endpoint-queue.ts";
import { readMemory } from "./read-memory.ts";

export type LaneRegistryDeps = Omit<LaneDeps, "memory"> & {
  endpoints: Pick<WebhookWork, "take">;
  /** Unique to this process. */
  holder: string;
};

/** The lanes of this process by their endpoint. */
export type LaneRegistry = {
  /** The lane of an endpoint, opened when need be; null when another process holds it, or there are too many. */
  laneOf: (endpointId: string) => Promise<Lane | null>;
  /** The lane of an endpoint when there is one. */
  get: (endpointId: string) => Lane | undefined;
  all: () => IterableIterator<Lane>;
  isFull: () => boolean;
  /** Another process may have given the endpoint back. */
  forgetElsewhere: (endpointId: string) => void;
  /** To be called every 100 ms or so. */
  tick: () => void;
  /** Opens no more and waits until none is left: every one finishes what is under way. */
  closeAll: () => Promise<void>;
};

const mostLanes = 1_000;
const elsewhereMs = 1_000; // so long an endpoint that another process holds is not asked for again
/** When all lanes are taken, those that were held longer give way: their due deliveries call for them again. */
const turnMs = 20_000;

export const laneRegistry = (deps: LaneRegistryDeps): LaneRegistry => {
  const opening = new Map<string, { lane: Promise<Lane | null>; sinceMs: number }>();
  const open = new Map<string, Lane>();
  const elsewhere = new Map<string, number>();
  const memory = readMemory();
  let isStopping = false;
  const nowMs = (): number => deps.clock.now().getTime();

  const take = async (id: string): Promise<Lane | null> => {
    const held = await deps.endpoints.take(id, { holder: deps.holder, now: deps.clock.now(), leaseMs });
    if (held === null) {
      elsewhere.set(id, nowMs() + elsewhereMs);
      opening.delete(id);
      return null;
    }
    const lane = new Lane({ ...deps, memory }, held);
    await lane.start();
    open.set(id, lane);
    void lane.closed.promise.then(() => open.delete(id) && opening.delete(id));
    return lane;
  };
  const giveWay = (): void => {
    const beforeMs = nowMs() - turnMs;
    for (const [id, lane] of open) if ((opening.get(id)?.sinceMs ?? 0) < beforeMs) lane.letGo();
  };

  return {
    laneOf: (id) => {
      const known = opening.get(id);
      if (known !== undefined) return known.lane;
      const isElsewhere = (elsewhere.get(id) ?? 0) > nowMs();
      if (isStopping || isElsewhere || opening.size >= mostLanes) return Promise.resolve(null);
      const lane = take(id);
      opening.set(id, { lane, sinceMs: nowMs() });
      lane.catch(() => opening.delete(id));
      return lane;
    },
    get: (id) => open.get(id),
    all: () => open.values(),
    isFull: () => opening.size >= mostLanes,
    forgetElsewhere: (id) => void elsewhere.delete(id),
    tick: () => {
      for (const lane of open.values()) lane.tick();
      if (opening.size >= mostLanes) giveWay();
      if (elsewhere.size > mostLanes) elsewhere.clear();
    },
    closeAll: async () => {
      isStopping = true;
      await Promise.allSettled([...opening.values()].map(({ lane }) => lane));
      const all = [...open.values()];
      for (const lane of all) lane.letGo();
      await Promise.all(all.map((lane) => lane.closed.promise));
    },
  };
};
