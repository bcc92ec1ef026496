import type { Settlement } from "#core/queue/worker.ts";
import type { Part } from "#core/runtime/lifecycle.ts";
import type { WebhookDeliveries, WebhookDeliveryRow } from "#core/storage/webhook-deliveries.ts";
import type { WebhookRow, WebhookWork } from "#core/storage/webhooks.ts";
import { holdMs } from "../hold.ts";
import { budget } from "./budget.ts";
import { missed } from "./delivery.ts";
import { Lane, type LaneDeps } from "./lane.ts";

export type LanesDeps = LaneDeps & {
  endpoints: Pick<WebhookWork, "take" | "wake" | "exists">;
  deliveries: Pick<WebhookDeliveries, "removePage">;
  /** Rings an endpoint's doorbell. */
  ring: (endpointId: string) => Promise<unknown>;
  /** Asks whoever holds an endpoint to look at its deliveries. */
  callHolder: (endpointId: string) => void;
  /** Unique to this process. */
  holder: string;
};

/** The endpoints that this process holds. */
export type Lanes = Part & {
  /** Takes new deliveries of one endpoint; resolves when all are stored. */
  offer: (endpoint: WebhookRow, rows: readonly WebhookDeliveryRow[]) => Promise<void>;
  /** Answers a doorbell: the endpoint has due deliveries, or is gone. */
  answer: (endpointId: string) => Promise<Settlement>;
  /** Somebody has deliveries for an endpoint that may be held here. */
  nudge: (endpointId: string) => void;
  /** The configuration of an endpoint changed; `*` is any. */
  refresh: (endpointId: string) => void;
  levels: () => { held: number; inFlight: number; unstored: number };
};

const mostLanes = 1_000;
/** New deliveries in memory, over all lanes: they are in JetStream too, which has them until they are stored. */
const mostUnstored = 1_000;
/** Deliveries whose storing is remembered, should their events be published twice. */
const mostRemembered = 20_000;
const tickMs = 100;
const sweepAfterMs = 10_000; // how long a lost doorbell goes unnoticed
const elsewhereMs = 1_000; // so long an endpoint that another process holds is not asked for again
/** When all lanes are taken, those that were held longer give way. */
const turnMs = 20_000;

export const lanes = (deps: LanesDeps): Lanes => {
  const { endpoints, clock } = deps;
  const open = new Map<string, { lane: Promise<Lane | null>; sinceMs: number }>();
  const ready = new Map<string, Lane>();
  const elsewhere = new Map<string, number>();
  const memory = budget(mostUnstored);
  const stored = recently(mostRemembered);
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;
  const nowMs = (): number => clock.now().getTime();

  const take = async (id: string): Promise<Lane | null> => {
    const held = await endpoints.take(id, { holder: deps.holder, now: clock.now(), holdMs });
    if (held === null) {
      elsewhere.set(id, nowMs() + elsewhereMs);
      return null;
    }
    const lane = new Lane(deps, held);
    await lane.start();
    ready.set(id, lane);
    void lane.closed.promise.then(() => {
      ready.delete(id);
      open.delete(id);
    });
    return lane;
  };

  const laneOf = (id: string): Promise<Lane | null> => {
    const known = open.get(id);
    if (known !== undefined) return known.lane;
    if (isStopping || open.size >= mostLanes || (elsewhere.get(id) ?? 0) > nowMs()) return Promise.resolve(null);
    const lane = take(id);
    open.set(id, { lane, sinceMs: nowMs() });
    lane.then((taken) => taken ?? open.delete(id), () => open.delete(id));
    return lane;
  };

  const keepAll = async (rows: readonly WebhookDeliveryRow[]): Promise<void> => {
    await Promise.all(rows.map(deps.keep));
    for (const { _id } of rows) stored.add(_id);
  };

  /** What there is no room for now waits in the store. */
  const leave = async (id: string, rows: readonly WebhookDeliveryRow[]): Promise<void> => {
    if (rows.length === 0) return;
    await keepAll(rows);
    if (ready.get(id)?.nudge() !== true) await handOver(deps, id);
  };

  const tick = (): void => {
    for (const lane of ready.values()) lane.tick();
    if (open.size >= mostLanes) giveWay(ready, open, nowMs() - turnMs);
    if (elsewhere.size > mostLanes) elsewhere.clear();
  };

  return {
    name: "webhook lanes",
    start: async () => {
      timer = setInterval(tick, tickMs);
    },
    stop: async (signal) => {
      isStopping = true;
      await Promise.race([closeAll(ready), aborted(signal)]);
      clearInterval(timer);
    },
    offer: async (endpoint, offered) => {
      await memory.enter(offered.length);
      try {
        const isDormant = endpoint.paused || endpoint.status === "disabled";
        const lane = isDormant ? null : await laneOf(endpoint._id);
        const rows = offered.filter(({ _id }) => !stored.has(_id));
        if (endpoint.status === "disabled") return await keepAll(rows.map(missed));
        const [there, others] = partition(rows, ({ _id }) => lane?.has(_id) === true); // published twice
        const room = Math.max(0, lane?.room() ?? 0);
        const taken = [...there, ...others.slice(0, room)].map(async (row) => {
          await lane?.offer(row);
          stored.add(row._id);
        });
        await Promise.all([...taken, leave(endpoint._id, others.slice(room))]);
      } finally {
        memory.leave(offered.length);
      }
    },
    answer: async (id) => {
      const held = ready.get(id);
      if (held?.nudge() === true) return { kind: "done" };
      await held?.closed.promise;
      elsewhere.delete(id);
      if (open.size >= mostLanes) return { kind: "retry", delayMs: 1_000, reason: "all lanes are taken" };
      const lane = await laneOf(id);
      if (lane !== null) lane.nudge();
      else if (await endpoints.exists(id)) deps.callHolder(id);
      else await removeAll(deps, id);
      return { kind: "done" };
    },
    nudge: (id) => void ready.get(id)?.nudge(),
    refresh: (id) => {
      for (const [one, lane] of ready) if (id === "*" || id === one) lane.refresh();
    },
    levels: () => ({
      held: ready.size,
      inFlight: [...ready.values()].reduce((sum, lane) => sum + lane.underWay, 0),
      unstored: memory.used(),
    }),
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

/** Those that were held longest let others have a turn: their due deliveries call for them again. */
const giveWay = (
  ready: ReadonlyMap<string, Lane>,
  open: ReadonlyMap<string, { sinceMs: number }>,
  beforeMs: number,
): void => {
  for (const [id, lane] of ready) if ((open.get(id)?.sinceMs ?? 0) < beforeMs) lane.letGo();
};

/** Waits until no lane is held: every one finishes what is under way. */
const closeAll = async (ready: ReadonlyMap<string, Lane>): Promise<void> => {
  const all = [...ready.values()];
  for (const lane of all) lane.letGo();
  await Promise.all(all.map((lane) => lane.closed.promise));
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** An endpoint that was deleted leaves its deliveries behind. */
const removeAll = async ({ deliveries }: Pick<LanesDeps, "deliveries">, id: string): Promise<void> => {
  while ((await deliveries.removePage(id)) > 0);
};
