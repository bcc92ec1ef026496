import { TLSSocket } from "node:tls";
import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import { type Http2Pool, http2Pool } from "../http2/pool.ts";
import type { TransportResult } from "../transport.ts";
import { type Connector, untilAborted } from "./connect.ts";
import { bytesOf, type GuardedReply, type GuardedRequest } from "./exchange.ts";
import { type Failure, failures } from "./failures.ts";

const mostOrigins = 10_000; // whose protocol is remembered
const rememberedMs = 3_600_000;
const mostPools = 1_000; // of an owner and an origin; the one longest unused is closed
const idleMs = 60_000; // whoever registers an endpoint chooses its origin: its connection is not kept for long

/**
 * Requests over HTTP/2 to origins that speak it, all those of an owner to an origin on one connection. Which protocol an
 * origin speaks is asked once, by a connection that carries nothing (ALPN), and again when it could not be reached.
 */
export const http2Origins = ({ connect, openHttp2 }: Connector) => {
  const spoken = new LRUCache<string, boolean>({ ...atMostEntries(mostOrigins), ttl: rememberedMs });
  const asking = new Map<string, Promise<boolean | Failure>>();
  const pools = new LRUCache<string, Http2Pool>({ max: mostPools, dispose: (pool) => void pool.close() });

  const ask = async ({ url, connectTimeoutMs }: GuardedRequest): Promise<boolean | Failure> => {
    const made = await connect(url, AbortSignal.timeout(connectTimeoutMs), ["h2", "http/1.1"]);
    if ("errorClass" in made) return made;
    made.destroy();
    const isSpoken = made instanceof TLSSocket && made.alpnProtocol === "h2";
    spoken.set(url.origin, isSpoken);
    return isSpoken;
  };
  const answerOf = (wanted: GuardedRequest, signal: AbortSignal): Promise<boolean | Failure> => {
    const { origin } = wanted.url;
    const asked = asking.get(origin) ?? ask(wanted).finally(() => asking.delete(origin));
    asking.set(origin, asked); // bounded by the callers, who each wait
    return untilAborted(asked, signal).catch(() => failures.connectedLate);
  };
  const poolOf = ({ url, poolKey, connectTimeoutMs }: GuardedRequest): Http2Pool => {
    const key = `${poolKey} ${url.origin}`;
    const known = pools.get(key);
    if (known !== undefined) return known;
    const made = http2Pool({ origin: url.origin, connect: openHttp2, connectTimeoutMs, idleMs, maxConnections: 1 });
    pools.set(key, made);
    return made;
  };
  return {
    /** Null when the origin does not speak HTTP/2: nothing was sent. `endsAtMs` is on the clock of `performance.now()`. */
    request: async (wanted: GuardedRequest, signal: AbortSignal, endsAtMs: number): Promise<GuardedReply | null> => {
      const { url, headers, isOver } = wanted;
      if (url.protocol !== "https:") return null;
      const isSpoken = spoken.get(url.origin) ?? (await answerOf(wanted, signal));
      if (typeof isSpoken !== "boolean") return { kind: "unreached", ...isSpoken };
      if (!isSpoken) return null;
      const [path, body] = [`${url.pathname}${url.search}`, bytesOf(wanted.body)];
      const timeoutMs = endsAtMs - performance.now();
      const asked = poolOf(wanted).request({ path, headers, body, timeoutMs, signal, isOver });
      const result = await asked.catch(() => null); // rejects only when it was given up before it was written
      if (result?.kind === "not_sent") spoken.delete(url.origin);
      return result === null ? { kind: "unreached", ...failures.givenUp } : replyOf(result);
    },
    /** Finishes what is under way, then closes its connections. */
    close: (): void => pools.clear(),
  };
};

const replyOf = (result: TransportResult): GuardedReply => {
  switch (result.kind) {
    case "answer":
      return { ...result, kind: "answered", body: Buffer.from(result.body), broken: null };
    case "not_sent":
      return { kind: "unreached", reason: result.reason, errorClass: "connect" };
    case "broken":
      return { kind: "broken", reason: result.reason, errorClass: "reset" };
    case "impossible":
      return { kind: "refused", reason: result.reason, errorClass: "configuration" };
  }
};
