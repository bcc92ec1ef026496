import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { portBase } from "../files/paths.ts";

/** One webhook request. `verified`: the public standardwebhooks library accepts its signature with a known secret. */
export type ReceivedWebhook = {
  seq: number;
  at: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  verified: boolean;
  answered: number;
};

export type ReceiverAnswer = { status: number; headers?: Record<string, string>; body?: string; delayMs?: number };

export type ReceiverOptions = {
  port: number;
  secrets?: readonly string[];
  /** What to answer; 200 when left out. */
  answer?: (request: Omit<ReceivedWebhook, "answered">) => ReceiverAnswer;
};

export type Receiver = {
  url: string;
  /** The last requests, oldest first. */
  received: () => ReceivedWebhook[];
  /** Requests that came before the secret was known are checked then. */
  addSecret: (secret: string) => void;
  stop: () => Promise<void>;
};

const keepLast = 10_000;

/**
 * A receiver of webhooks on loopback, for the demo and for tests. Every POST is a webhook, but for `POST /secrets` (the
 * body is one); `GET /received?since=` lists what came, `DELETE /received` forgets it.
 */
export const startReceiver = async ({ port, secrets = [], answer = () => ok }: ReceiverOptions): Promise<Receiver> => {
  const known = new Set(secrets);
  let kept: ReceivedWebhook[] = [];
  let seq = 0;

  const addSecret = (secret: string): void => {
    known.add(secret);
    for (const request of kept) request.verified ||= isVerified(request, known);
  };
  const receive = async (request: IncomingMessage): Promise<ReceiverAnswer> => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const body = await text(request);
    const verified = isVerified({ headers, body }, known);
    const one = { seq: ++seq, at: new Date().toISOString(), path: request.url ?? "", headers, body, verified };
    const reply = answer(one);
    kept.push({ ...one, answered: reply.status });
    kept = kept.slice(-keepLast);
    return reply;
  };
  const server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://receiver");
      switch (`${request.method} ${pathname}`) {
        case "GET /received":
          return reply(response, json(kept.filter((one) => one.seq > Number(searchParams.get("since") ?? 0))));
        case "DELETE /received":
          kept = [];
          return reply(response, json({ ok: true }));
        case "POST /secrets":
          addSecret((await text(request)).trim());
          return reply(response, json({ ok: true }));
        default:
          return reply(response, await receive(request));
      }
    };
    void serve().catch(() => response.destroy()); // the sender broke off
  });
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject).listen(port, "127.0.0.1", listening.resolve);
  await listening.promise;
  const { port: bound } = server.address() as AddressInfo; // a TCP server's address is never a string
  return {
    url: `http://127.0.0.1:${bound}`,
    received: () => [...kept],
    addSecret,
    stop: async () => {
      const stopped = Promise.withResolvers<void>();
      server.close(() => stopped.resolve());
      server.closeAllConnections();
      await stopped.promise;
    },
  };
};

const ok: ReceiverAnswer = { status: 200, body: "ok" };

const json = (value: unknown): ReceiverAnswer => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

const reply = (response: ServerResponse, { status, headers = {}, body = "", delayMs = 0 }: ReceiverAnswer): void => {
  const send = (): void => void response.writeHead(status, headers).end(body);
  if (delayMs > 0) setTimeout(send, delayMs).unref();
  else send();
};

const isVerified = ({ headers, body }: Pick<ReceivedWebhook, "headers" | "body">, secrets: Iterable<string>): boolean =>
  [...secrets].some((secret) => {
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  });

if (import.meta.main) {
  const [port = portBase() + 15] = process.argv.slice(2);
  const receiver = await startReceiver({ port: Number(port) });
  console.log(`webhooks are received at ${receiver.url}/hook and listed at ${receiver.url}/received`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void receiver.stop());
}
