import { Gauge, type Registry } from "prom-client";
import { type Check, outcomesOf } from "../process/health-server.ts";

/** Declares `herald_dependency_up`: with each scrape everything is asked at once, for at most a second. */
export const watchDependencies = (registry: Registry, checks: Readonly<Record<string, Check>>): void => {
  const up: Gauge<"dependency"> = new Gauge({
    name: "herald_dependency_up",
    help: "1 when what the program uses answered within a second, else 0",
    labelNames: ["dependency"],
    registers: [],
    collect: async (): Promise<void> => {
      for (const [dependency, outcome] of await outcomesOf(checks)) up.set({ dependency }, Number(outcome === "ok"));
    },
  });
  registry.registerMetric(up);
};
