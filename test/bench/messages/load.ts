import { setTimeout as sleep } from "node:timers/promises";
import { keptConnection } from "./kept-connection.ts";

/** A load of requests of one kind over kept connections, each sending one after another. */
export type Load = {
  /** The same for every request, or that of the n-th one. */
  url: string | ((n: number) => string);
  /** At most; fewer at a pace that would let one wait for {@link mostUnaskedSeconds} for its first request. */
  connections: number;
  requests: number;
  /** Requests a second, evenly, while connections are free; else each is sent when the one before was answered. */
  perSecond?: number;
  /** The same for every request, or that of the n-th one. */
  headers: Readonly<Record<string, string>> | ((n: number) => Readonly<Record<string, string>>);
  /** Left out: GET, without a body. */
  body?: ((n: number) => string) | undefined;
  /** Status that counts as success. */
  status: number;
};

export type LoadResult = { perSecond: number; p50Ms: number; p99Ms: number; failures: Record<string, number> };

/** The apiserver closes a connection that has asked nothing for 10 s. */
const mostUnaskedSeconds = 5;

/**
 * Sends the load over connections that are open by then, and measures each request to the last byte of its reply: from writing it, or with `perSecond` from when it was
 * due, so that one which had to wait for a connection counts with its wait.
 */
export const runLoad = async (load: Load): Promise<LoadResult> => {
  const latenciesMs: number[] = [];
  const failures: Record<string, number> = {};
  let next = 0;
  const urlOf = (n: number): URL => new URL(typeof load.url === "string" ? load.url : load.url(n));
  const most = Math.ceil((load.perSecond ?? Infinity) * mostUnaskedSeconds);
  const connections = Array.from({ length: Math.min(load.connections, most) }, keptConnection);
  await Promise.all(connections.map(({ open }) => open(urlOf(0))));
  const beganMs = performance.now();
  const dueMs = (n: number): number => beganMs + (n * 1000) / (load.perSecond ?? Infinity);
  const askInTurn = async ({ ask, close }: ReturnType<typeof keptConnection>): Promise<void> => {
    while (next < load.requests) {
      const n = next++;
      const waitMs = dueMs(n) - performance.now();
      if (waitMs > 0) await sleep(Math.ceil(waitMs)); // timers leave out fractions
      const request = {
        url: urlOf(n),
        headers: typeof load.headers === "function" ? load.headers(n) : load.headers,
        body: load.body?.(n),
      };
      const startedMs = load.perSecond === undefined ? performance.now() : dueMs(n);
      const status = await ask(request);
      latenciesMs.push(performance.now() - startedMs);
      if (status !== load.status) failures[status] = (failures[status] ?? 0) + 1;
    }
    close();
  };
  await Promise.all(connections.map(askInTurn));
  const tookMs = performance.now() - beganMs;
  return { perSecond: (load.requests / tookMs) * 1000, ...quantiles(latenciesMs), failures };
};

/** Median and 99th percentile. */
export const quantiles = (valuesMs: readonly number[]): { p50Ms: number; p99Ms: number } => {
  const sorted = [...valuesMs].sort((a, b) => a - b);
  const at = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
};
