import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Registry } from "prom-client";
import { scrape } from "../metrics/scrape.ts";
import type { Part } from "./lifecycle.ts";

/** Whether something the program needs answers: resolves when it does, rejects when not. */
export type Check = (signal: AbortSignal) => Promise<unknown>;

/**
 * Serves, on a port of its own, `/healthz` (the process answers), `/readyz` (every check passes within a second, else
 * 503 and the names of those that failed) and `/metrics`. `port` is the one in use, also when 0 was asked for.
 */
export const healthServer = ({ host, port, ...asked }: HealthOptions): Part & { port: () => number } => {
  const server = createServer((request, response) => {
    void answer(request, asked)
      .catch(() => ({ status: 500, type: "application/json", body: '{"status":"error"}' }))
      .then((reply) => send(request, response, reply));
  });
  bound(server);
  return {
    name: "health server",
    port: () => (server.address() as AddressInfo | null)?.port ?? port, // sound: it listens on TCP only
    start: () => listen(server, host, port),
    stop: () => close(server),
  };
};

export type HealthOptions = HealthSources & { host: string; port: number };

type HealthSources = {
  /** What the program cannot work without. */
  checks: Record<string, Check>;
  /** What it can do without for a while: reported, but not decisive. */
  optional?: Record<string, Check>;
  registry: Registry;
};

type Reply = { status: number; type: string; body: string };

const checkMs = 1_000; // below the second that kubelet waits by default, with the reply's own time

const answer = async (request: IncomingMessage, { checks, optional = {}, registry }: HealthSources): Promise<Reply> => {
  if (request.method !== "GET" && request.method !== "HEAD") return json(405, { status: "method not allowed" });
  switch (request.url?.split("?", 1)[0]) {
    case "/healthz":
      return json(200, { status: "ok" });
    case "/readyz":
      return readiness(checks, optional);
    case "/metrics":
      return { status: 200, ...(await scrape(registry, request.headers.accept)) };
    case undefined:
    default:
      return json(404, { status: "not found" });
  }
};

const readiness = async (checks: Record<string, Check>, optional: Record<string, Check>): Promise<Reply> => {
  const [needed, useful] = await Promise.all([outcomesOf(checks), outcomesOf(optional)]);
  const isReady = needed.every(([, result]) => result === "ok");
  const status = isReady ? "ok" : "unavailable";
  return json(isReady ? 200 : 503, { status, checks: Object.fromEntries([...needed, ...useful]) });
};

type Outcome = "ok" | "timeout" | "failed";

/** Makes every check once, all at the same time. `failed` says no more: an error's text could name hosts and users. */
export const outcomesOf = (checks: Readonly<Record<string, Check>>): Promise<[name: string, outcome: Outcome][]> =>
  Promise.all(
    Object.entries(checks).map(async ([name, check]): Promise<[string, Outcome]> => [name, await outcome(check)]),
  );

const outcome = async (check: Check): Promise<Outcome> => {
  const signal = AbortSignal.timeout(checkMs);
  const { promise: late, resolve } = Promise.withResolvers<"timeout">();
  signal.addEventListener("abort", () => resolve("timeout"), { once: true });
  const checked = check(signal).then(
    () => "ok" as const,
    () => (signal.aborted ? ("timeout" as const) : ("failed" as const)),
  );
  return Promise.race([checked, late]);
};

const json = (status: number, value: object): Reply => ({
  status,
  type: "application/json",
  body: JSON.stringify(value),
});

const send = (request: IncomingMessage, response: ServerResponse, { status, type, body }: Reply): void => {
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
  });
  response.end(request.method === "HEAD" ? "" : body);
};

const bound = (server: Server): void => {
  server.maxConnections = 64; // kubelet, Prometheus and a few people
  server.headersTimeout = 5_000;
  server.requestTimeout = 5_000;
  server.keepAliveTimeout = 30_000;
};

const listen = async (server: Server, host: string, port: number): Promise<void> => {
  server.listen(port, host);
  await once(server, "listening"); // or an error
};

const close = async (server: Server): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve()); // an error only says that it was not open
  server.closeAllConnections();
  await promise;
};
