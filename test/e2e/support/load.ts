import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { slowness } from "../../support/suite/slowness.ts";

/** What came of a load: every request is in one of the two lists. */
export type LoadResult = { accepted: string[]; failures: Failure[] };
export type Failure = { atMs: number; reason: string };
/** `stop` waits for the answers that are under way. */
export type Load = { stop: () => Promise<LoadResult> };

export type LoadOptions = { url: string; token: string; body: (n: number) => object; perSecond: number };

const leastClients = 8;
const perClient = 8; // requests a second: one that waits for 125 ms keeps its pace
/** After so long a client gives a request up: later on a machine that computes slowly. */
export const clientTimeoutMs = Math.ceil(10_000 * slowness());

/**
 * Sends notifications at a steady pace from several clients, each with one connection that it keeps, and gives up when
 * the server says so. Nothing is tried twice: each request has to be answered 202.
 */
export const startLoad = ({ url, token, body, perSecond }: LoadOptions): Load => {
  const result: LoadResult = { accepted: [], failures: [] };
  const stopping = new AbortController();
  const clients = Math.max(leastClients, Math.ceil(perSecond / perClient));
  let sent = 0;
  const send = async (agent: Agent): Promise<void> => {
    try {
      const { status, answer } = await post(url, { agent, token, body: JSON.stringify(body(sent++)) });
      if (status === 202)
        result.accepted.push((JSON.parse(answer) as { id: string }).id); // docs/openapi.json
      else result.failures.push({ atMs: Date.now(), reason: `${status} ${answer}` });
    } catch (error) {
      result.failures.push({ atMs: Date.now(), reason: String(error) });
    }
  };
  const client = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!stopping.signal.aborted) {
      const pause = sleep((1000 * clients) / perSecond, undefined, { signal: stopping.signal }).catch(() => undefined);
      await send(agent);
      await pause;
    }
    agent.destroy();
  };
  const working = Promise.all(Array.from({ length: clients }, client));
  return {
    stop: async () => {
      stopping.abort();
      await working;
      return result;
    },
  };
};

const post = async (
  url: string,
  { agent, token, body }: { agent: Agent; token: string; body: string },
): Promise<{ status: number; answer: string }> => {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  const signal = AbortSignal.timeout(clientTimeoutMs);
  const response = await new Promise<IncomingMessage>((answered, failed) => {
    request(url, { method: "POST", agent, headers, signal }, answered).once("error", failed).end(body);
  });
  return { status: response.statusCode ?? 0, answer: await text(response) };
};
