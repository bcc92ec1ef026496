import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { judge, type Reachable, worst } from "#core/domain/status/judge.ts";
import type { Figures } from "#core/domain/status/rules.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { passes } from "#core/runtime/process/passes.ts";
import { type Component, components, type Status } from "#core/schema/status/vocabulary.ts";
import type { StatusDayRow } from "#core/storage/status/days.ts";
import type { IncidentRow } from "#core/storage/status/incidents.ts";
import { type History, statusHistory } from "./history.ts";

/** How the service was when it was looked at last. */
export type Look = {
  checkedAt: Date;
  status: Status;
  states: Record<Component, Status>;
  /** Open ones, and those of the last 90 days; the newest first. */
  incidents: readonly IncidentRow[];
  /** The last 90 days that are known, the oldest first. */
  days: readonly StatusDayRow[];
};

export type BoardDeps = {
  /** Asks the stores, each for a second at most. */
  reachable: () => Promise<Reachable>;
  /** @throws when they cannot be read */
  figures: (signal: AbortSignal) => Promise<Figures>;
  /** Those that are open, and those that ended after an instant. */
  incidentsSince: (instant: Date) => Promise<IncidentRow[]>;
  history: History;
  clock: Clock;
  onError: (error: unknown) => void;
};

export type Board = { part: Part; now: () => Look };

const everyMs = 5_000;
const mostMs = 2_000;
export const shownDays = 90;

/**
 * Looks every 5 s at how the service is, and keeps what it saw: who asks is answered at once, whatever is away. What
 * cannot be read while MongoDB is away is shown as it was read last.
 */
export const board = (deps: BoardDeps): Board => {
  let look = first(deps.clock.now());
  const history = statusHistory(deps.history);
  const pass = async (): Promise<void> => {
    const now = deps.clock.now();
    const reachable = await deps.reachable();
    const known = reachable.database ? await readAll(deps, now) : null;
    const read = { ...look, ...known?.rows };
    const open = read.incidents.filter(({ resolved_at: end }) => end === null);
    const affected = new Set(open.flatMap((incident) => incident.components));
    const states = judge({ reachable, figures: known?.figures ?? null, affected });
    const days = await history({ now, states, canWrite: reachable.database }).catch((error: unknown) => {
      deps.onError(error);
      return look.days;
    });
    look = { checkedAt: now, status: worst(Object.values(states)), states, incidents: read.incidents, days };
  };
  return { part: passes({ name: "status board", everyMs, pass, onError: deps.onError }), now: () => look };
};

/** Until it has looked for the first time: it says so by the time of the check. */
const first = (now: Date): Look => ({
  checkedAt: now,
  status: "operational",
  states: Object.fromEntries(components.map((name) => [name, "operational"])) as Look["states"], // sound: each has one
  incidents: [],
  days: [],
});

type Known = { figures: Figures | null; rows: { incidents?: IncidentRow[] } };

/** Each is read by itself: that one cannot be read hides nothing of the others. */
const readAll = async ({ figures, incidentsSince, onError }: BoardDeps, now: Date): Promise<Known> => {
  const [measured, incidents] = await Promise.all([
    inTime(figures).catch(onError),
    inTime(() => incidentsSince(new Date(now.getTime() - shownDays * dayMs))).catch(onError),
  ]);
  return { figures: measured ?? null, rows: incidents === undefined ? {} : { incidents } };
};

const inTime = async <T>(read: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const signal = AbortSignal.timeout(mostMs);
  const { promise: late, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return Promise.race([read(signal), late]);
};
