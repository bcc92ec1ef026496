import type { Settlement } from "#core/queue/worker.ts";
import type { Part } from "#core/runtime/lifecycle.ts";
import type { WebhookDeliveries, WebhookDeliveryRow } from "#core/storage/webhook-deliveries.ts";
import type { WebhookRow, WebhookWork } from "#core/storage/webhooks.ts";
import type { Suspensions } from "../suspensions.ts";
import { budget } from "./budget.ts";
import { missed } from "./delivery.ts";
import type { Lane } from "./lane.ts";
import { type LaneRegistryDeps, laneRegistry } from "./lane-registry.ts";

export type LanesDeps = LaneRegistryDeps & {
  endpoints: Pick<WebhookWork, "wake" | "exists">;
  deliveries: Pick<WebhookDeliveries, "removePage">;
  suspensions: Pick<Suspensions, "onResume">;
  /** Rings an endpoint's doorbell. */
  ring: (endpointId: string) => Promise<unknown>;
  /** Asks whoever holds an endpoint to look at its deliveries. */
  callHolder: (endpointId: string) => void;
};

/** The endpoints that this process holds. */
export type Lanes = Part & {
  /** Takes new deliveries of one endpoint, made when there is room for so many; resolves when all are stored. */
  offer: (endpoint: WebhookRow, count: number, make: () => readonly WebhookDeliveryRow[]) => Promise<void>;
  /** Answers a doorbell: the endpoint has due deliveries, or is gone. */
  answer: (endpointId: string) => Promise<Settlement>;
  /** Somebody has deliveries for an endpoint that may be held here. */
  nudge: (endpointId: string) => void;
  /** The configuration of an endpoint changed; `*` is any. */
  refresh: (endpointId: string) => void;
  levels: () => { held: number; inFlight: number; unstored: number };
};

/**
 * New deliveries in memory, over all lanes: they are in JetStream too, which has them until they are stored. No more than
 * what is sent within the second after which they would be stored as waiting.
 */
const mostUnstored = 600;
/** Deliveries whose storing is remembered, should their events be published twice. */
const mostRemembered = 20_000;
const tickMs = 100;
const pagesRemoved = 10; // in one answer to a doorbell
const sweepAfterMs = 10_000; // how long a lost doorbell goes unnoticed

export const lanes = (deps: LanesDeps): Lanes => {
  const registry = laneRegistry(deps);
  const memory = budget(mostUnstored);
  deps.suspensions.onResume((tenantId) => {
    for (const lane of registry.all()) if (lane.tenantId === tenantId) lane.nudge();
  });
  let timer: NodeJS.Timeout | undefined;
  return {
    name: "webhook lanes",
    start: async () => {
      timer = setInterval(registry.tick, tickMs);
    },
    stop: async (signal) => {
      await Promise.race([registry.closeAll(), aborted(signal)]);
      clearInterval(timer);
    },
    offer: offering(deps, registry, memory),
    answer: async (id) => {
      const held = registry.get(id);
      if (held?.nudge() === true) {
        if (await deps.endpoints.exists(id)) return { kind: "done" };
        held.refresh(); // it was deleted: the lane finds out and closes
      }
      if (held !== undefined) return { kind: "retry", delayMs: tickMs, reason: "it is just being given back" };
      registry.forgetElsewhere(id);
      if (registry.isFull()) return { kind: "retry", delayMs: 1_000, reason: "all lanes are taken" };
      const lane = await registry.laneOf(id);
      if (lane !== null) lane.nudge();
      else if (await deps.endpoints.exists(id)) deps.callHolder(id);
      else if (!(await areRemoved(deps, id)))
        return { kind: "retry", delayMs: tickMs, reason: "there is more to remove" };
      return { kind: "done" };
    },
    nudge: (id) => void registry.get(id)?.nudge(),
    refresh: (id) => {
      if (id === "*") for (const lane of registry.all()) lane.refresh();
      else registry.get(id)?.refresh();
    },
    levels: () => {
      const all = [...registry.all()];
      return {
        held: all.length,
        inFlight: all.reduce((sum, lane) => sum + lane.underWay, 0),
        unstored: memory.used(),
      };
    },
  };
};

const offering = (
  deps: LanesDeps,
  registry: ReturnType<typeof laneRegistry>,
  memory: ReturnType<typeof budget>,
): Lanes["offer"] => {
  const stored = recently(mostRemembered);

  const keepAll = async (rows: readonly WebhookDeliveryRow[]): Promise<void> => {
    await Promise.all(rows.map(deps.keep));
    for (const { _id } of rows) stored.add(_id);
  };
  const call = async (id: string): Promise<void> => {
    if (registry.get(id)?.nudge() !== true) await handOver(deps, id);
  };
  /** What there is no room for now waits in the store. */
  const leave = async (id: string, rows: readonly WebhookDeliveryRow[]): Promise<void> => {
    if (rows.length === 0) return;
    await keepAll(rows);
    await call(id);
  };
  const share = async (id: string, lane: Lane | null, rows: readonly WebhookDeliveryRow[]): Promise<void> => {
    const [there, others] = partition(rows, ({ _id }) => lane?.has(_id) === true); // published twice
    const room = Math.max(0, lane?.room() ?? 0);
    const taken = [...there, ...others.slice(0, room)].map(async (row) => {
      await lane?.offer(row);
      stored.add(row._id);
    });
    await Promise.all([...taken, leave(id, others.slice(room))]);
  };

  return async (endpoint, count, make) => {
    const isDisabled = endpoint.status === "disabled";
    await memory.enter(count);
    try {
      const isResting = endpoint.paused || isDisabled || deps.suspensions.has(endpoint.tenant_id);
      const lane = isResting ? null : await registry.laneOf(endpoint._id);
      const rows = make().filter(({ _id }) => !stored.has(_id));
      await (isDisabled ? keepAll(rows.map(missed)) : share(endpoint._id, lane, rows));
      if (rows.length < count && !isDisabled) await call(endpoint._id); // whoever stored the others may not have come to it
    } finally {
      memory.leave(count);
    }
  };
};

const partition = <T>(all: readonly T[], is: (one: T) => boolean): [T[], T[]] => [
  all.filter(is),
  all.filter((one) => !is(one)),
];

/** The ids of the last `most` deliveries that were stored. */
const recently = (most: number) => {
  const ids = new Set<string>();
  return {
    has: (id: string): boolean => ids.has(id),
    add: (id: string): void => {
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > most && oldest !== undefined) ids.delete(oldest);
    },
  };
};

/** Has another look at an endpoint: now when the doorbell is heard, else a little later. */
export const handOver = async (
  { endpoints, ring, clock }: Pick<LanesDeps, "endpoints" | "ring" | "clock">,
  id: string,
): Promise<void> => {
  await endpoints.wake([id], new Date(clock.now().getTime() + sweepAfterMs));
  await ring(id);
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** An endpoint that was deleted leaves its deliveries behind. False when some are left: others' doorbells wait too. */
const areRemoved = async ({ deliveries }: Pick<LanesDeps, "deliveries">, id: string): Promise<boolean> => {
  for (let page = 0; page < pagesRemoved; page++) if ((await deliveries.removePage(id)) === 0) return true;
  return false;
};
