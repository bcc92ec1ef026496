import type { Registry } from "prom-client";
import { type Check, outcomesOf } from "../process/health-server.ts";
import { metricsIn } from "./series.ts";

/** Declares `herald_dependency_up`: with each scrape everything is asked at once, for at most a second. */
export const watchDependencies = (registry: Registry, checks: Readonly<Record<string, Check>>): void =>
  metricsIn(registry).level(
    "herald_dependency_up",
    "1 when what the program uses answered within a second, else 0",
    async (up) => {
      for (const [dependency, outcome] of await outcomesOf(checks)) up.set({ dependency }, Number(outcome === "ok"));
    },
    ["dependency"],
  );
