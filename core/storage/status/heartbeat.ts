import type { Db } from "mongodb";
import type { Registry } from "prom-client";
import type { Clock } from "../../domain/clock.ts";
import type { Figures } from "../../domain/status/rules.ts";
import { windowMs } from "../../domain/status/rules.ts";
import { type Totals, totalsIn } from "../../runtime/metrics/figures.ts";
import type { Part } from "../../runtime/process/lifecycle.ts";
import { passes } from "../../runtime/process/passes.ts";
import { type HeartbeatRow, heartbeats } from "./heartbeats.ts";

export type HeartbeatDeps = {
  db: Db;
  program: HeartbeatRow["program"];
  /** Unique to this process. */
  holder: string;
  registry: Registry;
  clock: Clock;
  onError: (error: unknown) => void;
};

const everyMs = 10_000;

/** Says each 10 s that the program runs, and what it has counted in the last five minutes. */
export const heartbeat = ({ db, program, holder, registry, clock, onError }: HeartbeatDeps): Part => {
  const store = heartbeats(db);
  const recent = recentFigures();
  const pass = async (): Promise<void> => {
    const figures = recent(await totalsIn(registry));
    await store.beat({ _id: holder, program, figures, at: clock.now() });
  };
  const beating = passes({ name: "heartbeat", everyMs, pass, onError });
  return {
    ...beating,
    stop: async (signal) => {
      await beating.stop(signal);
      await store.stop(holder).catch(onError); // else it counts for another minute
    },
  };
};

/** Gives what was counted since the totals of five minutes ago, or of the first ones that it was called with. */
const recentFigures = (): ((now: Totals) => Partial<Figures>) => {
  const kept: Totals[] = [];
  return (now) => {
    kept.push(now);
    if (kept.length > windowMs / everyMs + 1) kept.shift();
    const before = kept[0] ?? now;
    const names = Object.keys(now) as (keyof Totals)[]; // sound: it has no other members
    return Object.fromEntries(names.map((name) => [name, now[name] - before[name]]));
  };
};
