import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { ReceivedLog } from "./received.ts";
import type { Script } from "./script.ts";

/** A provider's stand-in: speaks its protocol at `url`, reports what it was sent, misbehaves as its script says. */
export type Simulator = {
  /** The channel of the service that it stands in for, e.g. `ios_push`; with the provider's name where it is the second. */
  channel: string;
  url: string;
  log: ReceivedLog;
  script: (script: Partial<Script>) => void;
  /** A new address to send to, where the provider is who gives them out (web push). */
  subscribe?: () => unknown;
  /** A person writes, to an app whose callbacks come to an address (WhatsApp). */
  say?: (said: { url: string; from: string; text: string }) => Promise<void>;
  stop: () => Promise<void>;
};

export type Control = { url: string; stop: () => Promise<void> };

/**
 * Serves the simulators' control API on loopback:
 * - `GET /received?channel=&since=&limit=` the last entries in full, oldest first
 * - `GET /counts?channel=` totals by channel; with `by=address` or `by=key` how often each was accepted
 * - `POST /script` `{channel, script}` replaces the script of one simulator
 * - `POST /messages` `{channel, url, from, text}` a person writes to a callback's address
 * - `POST /subscriptions?channel=&count=` new addresses of a simulator that gives them out
 * - `DELETE /received?channel=` forgets what was received
 */
export const startControl = async (port: number, simulators: readonly Simulator[]): Promise<Control> => {
  const server = createServer((request, response) => {
    answer(simulators, request)
      .then((reply) => send(response, reply))
      .catch((error: unknown) => send(response, { status: 400, body: { error: String(error) } }));
  });
  const stopped = Promise.withResolvers<void>();
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject).listen(port, "127.0.0.1", listening.resolve);
  await listening.promise;
  const { port: bound } = server.address() as AddressInfo; // a TCP server's address is never a string
  const stop = (): Promise<void> => {
    server.close(() => stopped.resolve());
    server.closeAllConnections();
    return stopped.promise;
  };
  return { url: `http://127.0.0.1:${bound}`, stop };
};

type Reply = { status: number; body: unknown };

const answer = async (simulators: readonly Simulator[], request: IncomingMessage): Promise<Reply> => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://control");
  const channel = searchParams.get("channel");
  const chosen = simulators.filter((simulator) => channel === null || simulator.channel === channel);
  switch (`${request.method} ${pathname}`) {
    case "GET /received":
      return { status: 200, body: chosen.flatMap((simulator) => received(simulator, searchParams)) };
    case "GET /counts":
      return { status: 200, body: counts(chosen, searchParams.get("by")) };
    case "DELETE /received":
      for (const { log } of chosen) log.clear();
      return { status: 200, body: { ok: true } };
    case "POST /subscriptions":
      return { status: 200, body: subscriptions(chosen, Number(searchParams.get("count") ?? 1)) };
    case "POST /messages":
      return written(simulators, await text(request));
    case "POST /script":
      return script(simulators, await text(request));
    default:
      return { status: 404, body: { error: "no such operation" } };
  }
};

const received = ({ channel, log }: Simulator, query: URLSearchParams) =>
  log
    .page({ since: Number(query.get("since") ?? 0), limit: Number(query.get("limit") ?? 1000) })
    .map((entry) => ({ channel, ...entry }));

const mostSubscriptions = 10_000;

const subscriptions = (simulators: readonly Simulator[], count: number): unknown[] =>
  simulators.flatMap(({ subscribe }) =>
    subscribe === undefined ? [] : Array.from({ length: Math.min(count, mostSubscriptions) }, subscribe),
  );

const counts = (simulators: readonly Simulator[], by: string | null) =>
  Object.fromEntries(
    simulators.map(({ channel, log }) => [
      channel,
      by === "address" || by === "key" ? Object.fromEntries(log.tally(by)) : log.counts(),
    ]),
  );

const script = (simulators: readonly Simulator[], body: string): Reply => {
  const wanted = JSON.parse(body) as { channel?: string; script?: Partial<Script> }; // a tool for tests: the sender is trusted
  const simulator = simulators.find(({ channel }) => channel === wanted.channel);
  if (simulator === undefined) return { status: 404, body: { error: "no such channel" } };
  simulator.script(wanted.script ?? {});
  return { status: 200, body: { ok: true } };
};

const written = async (simulators: readonly Simulator[], body: string): Promise<Reply> => {
  const { channel, ...said } = JSON.parse(body) as { channel: string; url: string; from: string; text: string }; // the same
  const simulator = simulators.find((one) => one.channel === channel);
  if (simulator?.say === undefined) return { status: 404, body: { error: "nobody writes over this channel" } };
  await simulator.say(said);
  return { status: 200, body: { ok: true } };
};

const send = (response: ServerResponse, { status, body }: Reply): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
};
