import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hrtime } from "node:process";

/** What came, but for what is held without an answer. */
export type Received = {
  requests: number;
  /** Events at a path, each counted once. */
  distinct: number;
  /** When the last of them came, ms of the machine's monotonic clock. */
  lastAtMs: number;
  /** Requests at paths that begin with `/hang`: never answered. */
  held: number;
  /** Requests at paths that begin with `/slow/<ms>`: answered after that, and not counted otherwise. */
  slow: number;
};

/** First arrival of each event, by its `bench_n`. */
export type Arrivals = { numbers: number[]; atMs: number[] };

/** What the parent may say. */
export type ReceiverQuestion = "totals" | "arrivals" | "forget";

/** The machine's monotonic clock: the same in every process. */
const nowMs = (): number => Number(hrtime.bigint()) / 1e6;

// A bare receiver of webhooks as a process of its own: it answers 200 at once and keeps only what is asked for.
const seen = new Map<string, Set<string>>();
const firstAtMs = new Map<number, number>();
const totals: Received = { requests: 0, distinct: 0, lastAtMs: 0, held: 0, slow: 0 };

const numberIn = (body: string): number => Number(/"bench_n":(\d+)/.exec(body)?.[1] ?? Number.NaN);

const note = (path: string, id: string, body: string): void => {
  totals.requests++;
  const ids = seen.get(path) ?? new Set();
  seen.set(path, ids);
  if (ids.has(id)) return;
  ids.add(id);
  totals.distinct++;
  totals.lastAtMs = nowMs();
  const n = numberIn(body);
  if (!firstAtMs.has(n)) firstAtMs.set(n, totals.lastAtMs);
};

const receive = (request: IncomingMessage, response: ServerResponse): void => {
  const path = request.url ?? "";
  if (path.startsWith("/hang")) {
    totals.held++;
    request.resume();
    return;
  }
  const [, slowMs] = /^\/slow\/(\d+)/.exec(path) ?? [];
  if (slowMs !== undefined) {
    totals.slow++;
    request.resume();
    setTimeout(() => response.writeHead(200).end(), Number(slowMs));
    return;
  }
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    note(path, String(request.headers["webhook-id"]), body);
    response.writeHead(200).end();
  });
};

const answers: Record<ReceiverQuestion, () => Received | Arrivals> = {
  totals: () => totals,
  arrivals: () => ({ numbers: [...firstAtMs.keys()], atMs: [...firstAtMs.values()] }),
  forget: () => {
    seen.clear();
    firstAtMs.clear();
    Object.assign(totals, { requests: 0, distinct: 0, lastAtMs: 0, held: 0, slow: 0 } satisfies Received);
    return totals;
  },
};

if (process.send !== undefined) {
  const server = createServer({ keepAliveTimeout: 60_000 }, receive);
  server.listen({ port: 0, host: "127.0.0.1", backlog: 2_048 }, () => {
    const { port } = server.address() as AddressInfo; // a TCP server's address is never a string
    process.send?.({ url: `http://127.0.0.1:${port}` });
  });
  process.on("message", (question: ReceiverQuestion) => process.send?.(answers[question]()));
  process.once("disconnect", () => process.exit());
}
