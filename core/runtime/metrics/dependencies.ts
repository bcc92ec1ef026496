import { Gauge, type Registry } from "prom-client";
import { type Check, outcome } from "../process/health-server.ts";

/** Declares `herald_dependency_up`: with each scrape everything is asked at once, for at most a second. */
export const watchDependencies = (registry: Registry, checks: Readonly<Record<string, Check>>): void => {
  const up: Gauge<"dependency"> = new Gauge({
    name: "herald_dependency_up",
    help: "1 when what the program uses answered within a second, else 0",
    labelNames: ["dependency"],
    registers: [],
    collect: async (): Promise<void> => {
      const asked = Object.entries(checks).map(
        async ([dependency, check]) => [dependency, (await outcome(check)) === "ok"] as const,
      );
      for (const [dependency, isUp] of await Promise.all(asked)) up.set({ dependency }, Number(isUp));
    },
  });
  registry.registerMetric(up);
};
