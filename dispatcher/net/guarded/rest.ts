import { NotBegun } from "#core/domain/messages/outcome.ts";
import { underWay } from "#core/runtime/batching/under-way.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import type { OpenTransport, Transport, TransportRequest, TransportResult } from "../transport.ts";
import { type GuardedReply, guardedClient } from "./client.ts";

/** Requests of one account under way at once, each on a connection of its own; further ones wait within their time. */
const maxConnections = 32;
/** What an account takes at once: with as many on their connections, half as many are being stored, or wait to be next. */
export const restTakes = { atOnce: maxConnections * 1.5 } as const;
const mostConnectMs = 5_000; // a part of the request's own time
const maxReplyBytes = 65_536;

/** The addresses of providers are the operator's settings: an operator may reach whatever they name. */
const operatorsOwn: AddressGuard = {
  problemOf: () => null,
  outsideProblemOf: () => null,
  mayConnect: () => true,
  mayReach: () => true,
};

/** A transport that asks, too. */
export type RestTransport = Transport & {
  get: (request: Omit<TransportRequest, "method" | "body">) => Promise<TransportResult>;
};

export type RestTransports = {
  open: (options: Parameters<OpenTransport>[0]) => RestTransport;
  /** The same, over HTTP/2 where the provider speaks it: for one of many requests that may not. */
  openHttp2: OpenTransport;
  /** Ends the connections of all transports. */
  close: () => void;
};

/**
 * Transports to providers that take one message a request and few of them a second: HTTP/1.1 over connections that are
 * kept. `ca` is a further certificate authority, PEM. Source: docs/decisions/0062-rest-providers.md.
 */
export const restTransports = ({ ca }: { ca?: string } = {}): RestTransports => {
  const client = guardedClient({ guard: operatorsOwn, ...(ca === undefined ? {} : { ca }) });
  let opened = 0;
  const opening =
    (mayUseHttp2: boolean): RestTransports["open"] =>
    ({ origin }) => {
      const poolKey = String(opened++); // one account's connections are never lent to another
      const requests = underWay();
      const request = async (
        method: "GET" | "POST",
        { path, headers, body, timeoutMs, signal, isOver }: Omit<TransportRequest, "method">,
      ): Promise<TransportResult> => {
        const isGivenUp = (): boolean => signal.aborted || isOver?.() === true;
        if (isGivenUp()) throw new NotBegun();
        const limits = { timeoutMs, connectTimeoutMs: Math.min(timeoutMs, mostConnectMs), maxReplyBytes };
        const pool = { poolKey, maxConnections, mayUseHttp2, mayRepeat: false }; // a repetition would be a second message
        const url = new URL(path, origin);
        const reply = await client.request({ url, method, headers, body, ...limits, ...pool, isOver }, signal);
        if (reply.kind === "unreached" && isGivenUp()) throw new NotBegun();
        return resultOf(reply);
      };
      return {
        request: (given) => requests.add(request("POST", given)),
        get: (given) => requests.add(request("GET", { ...given, body: "" })),
        close: requests.settled,
      };
    };
  return { open: opening(false), openHttp2: opening(true), close: client.close };
};

const resultOf = (reply: GuardedReply): TransportResult => {
  switch (reply.kind) {
    case "answered":
      return { kind: "answer", status: reply.status, headers: reply.headers, body: reply.body.toString("utf8") };
    case "unreached":
      return { kind: "not_sent", reason: reply.reason };
    case "broken":
      return { kind: "broken", reason: reply.reason };
    case "refused":
      return { kind: "impossible", code: "PROVIDER_REJECTED", reason: reply.reason };
  }
};
