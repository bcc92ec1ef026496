import { Resolver } from "node:dns/promises";
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { createSecureContext, getCACertificates } from "node:tls";
import type { AddressGuard } from "#core/runtime/address-guard.ts";

export type GuardedRequest = {
  url: URL;
  method: "POST";
  headers: Record<string, string>;
  body: Uint8Array | string;
  /** From the start of the look-up to the last byte of the answer. */
  timeoutMs: number;
  /** Look-up, TCP and TLS together. */
  connectTimeoutMs: number;
  /** What is kept of the answer's body; its connection is closed when there is more. */
  maxReplyBytes: number;
};

export type GuardedReply =
  /** `broken` tells why the body could not be read to its end (or to `maxReplyBytes`); null when it could. */
  | { kind: "answered"; status: number; headers: IncomingHttpHeaders; body: Buffer; broken: string | null }
  /** The address itself is not allowed: it never will be. */
  | { kind: "refused"; reason: string }
  /** No connection could be made: nothing was sent. */
  | { kind: "unreached"; reason: string }
  /** Connected, but no answer came: it may have been received. */
  | { kind: "broken"; reason: string };

export type GuardedClient = {
  /** Never rejects but when `signal` aborts. Follows no redirect, uses no proxy. */
  request: (wanted: GuardedRequest, signal: AbortSignal) => Promise<GuardedReply>;
  close: () => void;
};

export type GuardedClientDeps = {
  guard: AddressGuard;
  /** Every address of a name; none when it has none. Replaced in tests only. */
  resolve?: (host: string) => Promise<string[]>;
  /** A further certificate authority, PEM. */
  ca?: string;
};

/**
 * The one way out to addresses that users give. A name's addresses are all judged before one is connected to, and the
 * connection is made to a judged address, so that a name that answers differently the next time gains nothing.
 */
export const guardedClient = ({ guard, resolve = resolveByDns, ca }: GuardedClientDeps): GuardedClient => {
  const options = { keepAlive: true, maxFreeSockets: freeSocketsPerOrigin, timeout: idleMs };
  const http = new HttpAgent({ ...options, lookup: guardedLookup(guard, resolve, "http:") });
  const secureContext = createSecureContext(ca === undefined ? {} : { ca: [...getCACertificates(), ca] });
  const https = new HttpsAgent({ ...options, secureContext, lookup: guardedLookup(guard, resolve, "https:") });
  const open = ({ url, method, headers, body }: GuardedRequest): ClientRequest => {
    const length = { "content-length": String(Buffer.byteLength(body)) };
    const isPlain = url.protocol === "http:";
    const start = isPlain ? httpRequest : httpsRequest;
    return start(url, { method, headers: { ...headers, ...length }, agent: isPlain ? http : https });
  };
  return {
    request: async (wanted, signal) => {
      signal.throwIfAborted();
      const problem = guard.problemOf(wanted.url);
      return problem === null ? exchange(open(wanted), wanted, signal) : { kind: "refused", reason: problem };
    },
    close: () => {
      http.destroy();
      https.destroy();
    },
  };
};

/** Idle connections that are kept for one origin, and for how long: shorter than servers keep them (5 s and more). */
const freeSocketsPerOrigin = 64;
const idleMs = 4_000;

const exchange = (request: ClientRequest, wanted: GuardedRequest, signal: AbortSignal): Promise<GuardedReply> => {
  const { promise, resolve, reject } = Promise.withResolvers<GuardedReply>();
  const state: State = { phase: "connecting", gaveUp: null };
  const fail = (reason: string): void => {
    if (state.phase !== "answered") resolve({ kind: state.phase === "connecting" ? "unreached" : "broken", reason });
  };
  const giveUp = (reason: string): void => {
    state.gaveUp = reason;
    fail(reason);
    request.destroy();
  };
  const abort = (): void => {
    reject(signal.reason as Error); // an abort's reason is an Error unless its caller chose otherwise
    request.destroy();
  };
  const timers = [
    setTimeout(() => state.phase === "connecting" && giveUp("no connection in time"), wanted.connectTimeoutMs),
    setTimeout(() => giveUp("no whole answer in time"), wanted.timeoutMs),
  ];
  signal.addEventListener("abort", abort, { once: true });
  onConnected(request, () => {
    state.phase = "sent";
  });
  request.on("error", (error) => fail(describe(error)));
  request.on("close", () => fail("the connection was closed"));
  request.once("response", (response) => {
    state.phase = "answered";
    void read(response, wanted.maxReplyBytes, state).then(resolve);
  });
  request.end(wanted.body);
  return promise.finally(() => {
    for (const timer of timers) clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  });
};

type State = { phase: "connecting" | "sent" | "answered"; gaveUp: string | null };

const onConnected = (request: ClientRequest, connected: () => void): void => {
  request.once("socket", (socket) => {
    if (request.reusedSocket) connected();
    else socket.once("encrypted" in socket ? "secureConnect" : "connect", connected);
  });
};

const read = async (response: IncomingMessage, maxBytes: number, state: State): Promise<GuardedReply> => {
  const { statusCode: status = 0, headers } = response;
  const pieces: Buffer[] = [];
  let size = 0;
  const answered = (broken: string | null): GuardedReply => ({
    kind: "answered",
    status,
    headers,
    body: Buffer.concat(pieces).subarray(0, maxBytes),
    broken,
  });
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      pieces.push(piece);
      size += piece.length;
      if (size > maxBytes) break; // leaving the loop destroys the connection
    }
    return answered(null);
  } catch (error) {
    return answered(state.gaveUp ?? describe(error));
  }
};

/** What the agents connect with: every address of the name is judged, and one bad one spoils them all. */
const guardedLookup =
  (guard: AddressGuard, resolve: (host: string) => Promise<string[]>, protocol: string): LookupFunction =>
  (host, options, done) => {
    const answer = async (): Promise<void> => {
      const addresses = await resolve(host).catch(() => []);
      const isFine = addresses.every((address) => guard.mayConnect(address, protocol));
      const [first] = addresses;
      if (first === undefined) done(new Error("the name cannot be resolved"), "");
      else if (!isFine) done(new Error("the name leads to an address that is not allowed"), "");
      else if (options.all !== true) done(null, first, isIP(first));
      else
        done(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        );
    };
    void answer();
  };

/** By the resolver of c-ares: a name server that hangs takes no thread from the others. Reads no /etc/hosts. */
const resolveByDns = async (host: string): Promise<string[]> => {
  const resolver = new Resolver({ timeout: 1_000, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
};

/** What may be shown of an error: our own words or the system's code; messages of the system name addresses. */
const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return "the request failed";
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
};
