import { Agent, request as httpRequest } from "node:http";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { guardedClient } from "../../../dispatcher/net/guarded/client.ts";
import { startWebhookSink } from "./sink.ts";

export type OutgoingResult = { cpuUsPerRequest: number; perSecond: number };

/** `herald` is what the dispatcher uses; `node:http` makes the same requests without guard, deadline or bound. */
export type OutgoingVariant = "herald" | "node:http";

export type OutgoingBench = { variant?: OutgoingVariant; requests?: number; warmUp?: number; underWay?: number };

/**
 * CPU of the sending process for each request: 600 bytes by plain http over kept connections to a receiver in another
 * process, `underWay` of them at a time, after `warmUp` more for connections and compiler.
 */
export const benchOutgoing = async (bench: OutgoingBench = {}): Promise<OutgoingResult> => {
  const { variant = "herald", requests = 30_000, warmUp = 5_000, underWay = 10 } = bench;
  const sink = await startWebhookSink();
  const sender = senders[variant](new URL("/hook", sink.url), underWay);
  await repeat(warmUp, underWay, sender.send);
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await repeat(requests, underWay, sender.send);
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  sender.close();
  const { requests: received } = await sink.totals();
  sink.stop();
  if (received !== requests + warmUp) throw new Error(`${received} requests arrived of ${requests + warmUp}`);
  return { cpuUsPerRequest: (user + system) / requests, perSecond: (requests / tookMs) * 1000 };
};

const repeat = async (times: number, width: number, run: (n: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < times; n = next++) await run(n);
  };
  await Promise.all(Array.from({ length: width }, worker));
};

type Sender = { send: (n: number) => Promise<void>; close: () => void };

const body = JSON.stringify({ id: "evt_1", type: "event.received", data: { text: "x".repeat(530) } });

const headersOf = (n: number): Record<string, string> => ({
  "content-type": "application/json",
  "user-agent": "Service-Webhooks/1.0",
  "service-event-id": `evt_${n}`,
  "service-signature": `t=1700000000,v1=${"0".repeat(64)}`,
  "webhook-id": `evt_${n}`,
  "webhook-timestamp": "1700000000",
  "webhook-signature": `v1,${"0".repeat(44)}`,
});

const herald = (url: URL, underWay: number): Sender => {
  const client = guardedClient({ guard: addressGuard({ allow: ["127.0.0.1"] }) });
  const never = new AbortController().signal;
  const limits = { timeoutMs: 10_000, connectTimeoutMs: 3_000, maxReplyBytes: 16_384 };
  const pool = { poolKey: "whk_1", maxConnections: underWay, mayRepeat: true };
  const send = async (n: number): Promise<void> => {
    const wanted = { url, method: "POST", headers: headersOf(n), body, ...limits, ...pool } as const;
    const reply = await client.request(wanted, never);
    if (reply.kind !== "answered" || reply.status !== 200) throw new Error(`not answered: ${JSON.stringify(reply)}`);
  };
  return { send, close: client.close };
};

const bare = (url: URL): Sender => {
  const agent = new Agent({ keepAlive: true });
  const send = (n: number): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const headers = { ...headersOf(n), "content-length": String(Buffer.byteLength(body)) };
    const request = httpRequest(url, { method: "POST", agent, headers });
    request.on("error", reject);
    request.on("response", (response) => response.resume().on("end", resolve));
    request.end(body);
    return promise;
  };
  return { send, close: () => agent.destroy() };
};

const senders: Record<OutgoingVariant, (url: URL, underWay: number) => Sender> = { herald, "node:http": bare };
