import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** A load of requests of one kind over kept connections, each sending one after another. */
export type Load = {
  /** The same for every request, or that of the n-th one. */
  url: string | ((n: number) => string);
  connections: number;
  requests: number;
  /** Requests a second, evenly, while connections are free; else each is sent when the one before was answered. */
  perSecond?: number;
  headers: Readonly<Record<string, string>>;
  body: (n: number) => string;
  /** Status that counts as success. */
  status: number;
};

export type LoadResult = { perSecond: number; p50Ms: number; p99Ms: number; failures: Record<string, number> };

/** Sends the load and measures each request from writing it to the last byte of its reply. */
export const runLoad = async (load: Load): Promise<LoadResult> => {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const latenciesMs: number[] = [];
  const failures: Record<string, number> = {};
  let next = 0;
  const beganMs = performance.now();
  const dueInMs = (n: number): number => beganMs + (n * 1000) / (load.perSecond ?? Infinity) - performance.now();
  const connection = async (): Promise<void> => {
    while (next < load.requests) {
      const n = next++;
      if (dueInMs(n) > 0) await sleep(dueInMs(n));
      const body = load.body(n);
      const startedMs = performance.now();
      const status = await post({ ...load, url: typeof load.url === "string" ? load.url : load.url(n) }, agent, body);
      latenciesMs.push(performance.now() - startedMs);
      if (status !== load.status) failures[status] = (failures[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: load.connections }, connection));
  const tookMs = performance.now() - beganMs;
  agent.destroy();
  return { perSecond: (load.requests / tookMs) * 1000, ...quantiles(latenciesMs), failures };
};

/** Median and 99th percentile. */
export const quantiles = (valuesMs: readonly number[]): { p50Ms: number; p99Ms: number } => {
  const sorted = [...valuesMs].sort((a, b) => a - b);
  const at = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
};

const post = ({ url, headers }: Load & { url: string }, agent: Agent, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const length = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
    const sent = request(url, { method: "POST", agent, headers: { ...headers, ...length } }, (reply) => {
      reply.resume();
      reply.on("end", () => resolve(reply.statusCode ?? 0));
      reply.on("error", reject);
    });
    sent.setTimeout(30_000, () => sent.destroy(new Error("no answer in 30 s")));
    sent.on("error", reject);
    sent.end(body);
  });
