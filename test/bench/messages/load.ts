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
  /** The same for every request, or that of the n-th one. */
  headers: Readonly<Record<string, string>> | ((n: number) => Readonly<Record<string, string>>);
  /** Left out: GET, without a body. */
  body?: ((n: number) => string) | undefined;
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
      const request = {
        url: typeof load.url === "string" ? load.url : load.url(n),
        headers: typeof load.headers === "function" ? load.headers(n) : load.headers,
        body: load.body?.(n),
      };
      const startedMs = performance.now();
      const status = await ask(request, agent);
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

type Asked = { url: string; headers: Readonly<Record<string, string>>; body: string | undefined };

const ask = ({ url, headers, body }: Asked, agent: Agent): Promise<number> =>
  new Promise((resolve, reject) => {
    const length = body !== undefined && {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
    };
    const method = body === undefined ? "GET" : "POST";
    const sent = request(url, { method, agent, headers: { ...headers, ...length } }, (reply) => {
      reply.resume();
      reply.on("end", () => resolve(reply.statusCode ?? 0));
      reply.on("error", reject);
    });
    sent.setTimeout(30_000, () => sent.destroy(new Error("no answer in 30 s")));
    sent.on("error", reject);
    sent.end(body);
  });
