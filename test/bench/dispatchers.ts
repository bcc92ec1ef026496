import type { System, SystemProgram } from "../support/system/system.ts";
import { until } from "../support/until.ts";
import { peakRssMiB } from "./process-usage.ts";

const withinMs = 60_000;

/** Starts dispatchers, and waits until each has its part of the endpoints. */
export const startDispatchers = async (system: System, count: number): Promise<SystemProgram[]> => {
  const dispatchers = await Promise.all(Array.from({ length: count }, () => system.start("dispatcher")));
  await until(async () => areSpread(await Promise.all(dispatchers.map(sharesOf))), withinMs);
  return dispatchers;
};

/** Most memory that one of them ever had, MiB. */
export const mostRssMiB = (dispatchers: readonly SystemProgram[]): number =>
  Math.max(...dispatchers.map((one) => peakRssMiB(one.pid())));

/** Shares of the endpoints that a dispatcher owns; undefined where endpoints are not owned by shares. */
const sharesOf = async ({ healthUrl }: SystemProgram): Promise<number | undefined> => {
  const metrics = await (await fetch(`${healthUrl}/metrics`)).text();
  const [, shares] = /^herald_webhook_shares(?:\{.*\})? (\d+)$/m.exec(metrics) ?? [];
  return shares === undefined ? undefined : Number(shares);
};

const areSpread = (shares: readonly (number | undefined)[]): boolean => {
  const owned = shares.filter((count) => count !== undefined);
  return owned.length === 0 || (Math.min(...owned) > 0 && Math.max(...owned) - Math.min(...owned) <= 1);
};
