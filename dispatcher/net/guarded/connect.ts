import { isIP, connect as netConnect, type Socket, type TcpNetConnectOpts } from "node:net";
import {
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
  connect as tlsConnect,
} from "node:tls";
import { type AddressGuard, hostOf, portOf } from "#core/runtime/http/address-guard.ts";
import type { Resolve } from "#core/runtime/http/resolve.ts";
import { connectFailure, type Failure, failures } from "./failures.ts";

export type ConnectorDeps = {
  guard: AddressGuard;
  resolve: Resolve;
  /** A further certificate authority, PEM. */
  ca?: string;
};

export type Protocol = "h2" | "http/1.1";

/** `host` is a name or an IP address. */
export type Server = { host: string; port: number };

export type Connector = {
  /**
   * Makes a connection, TLS agreed on, that has carried nothing yet; or tells why there is none. Bounded by `signal`. The
   * peer chooses among `protocols` (ALPN, RFC 7301).
   */
  connect: (url: URL, signal: AbortSignal, protocols: readonly Protocol[]) => Promise<Socket | Failure>;
  /** Makes a connection to a server of another protocol that has carried nothing yet; or tells why there is none. */
  connectPlain: (server: Server, signal: AbortSignal) => Promise<Socket | Failure>;
  /**
   * The same for our HTTP/2 client, which waits for its socket and bounds it by itself: what is against it is the socket's
   * error. `url` is one that the guard admits.
   */
  openHttp2: (url: URL, opened: () => void) => Socket;
};

/**
 * The one place where connections to addresses of users are made. The name is resolved anew for each, all of its
 * addresses are judged, and what is connected to are these very addresses: a name that answers differently the next
 * time gains nothing. SNI, the certificate's check and `Host` stay those of the name.
 */
export const connector = ({ guard, resolve, ca }: ConnectorDeps): Connector => {
  const secureContext = createSecureContext(ca === undefined ? {} : { ca: [...getCACertificates(), ca] });
  const judged = async (
    url: URL,
    signal: AbortSignal,
    mayConnect = (address: string): boolean => guard.mayConnect(address, url),
  ): Promise<string[] | Failure> => {
    const addresses = await addressesOf(hostOf(url), resolve, signal);
    if (!Array.isArray(addresses)) return addresses;
    return addresses.every(mayConnect) ? addresses : failures.forbidden;
  };
  return {
    connect: async (url, signal, protocols) => {
      const addresses = await judged(url, signal);
      if (!Array.isArray(addresses)) return addresses;
      return open(url, { lookup: given(addresses), secureContext, protocols }, signal);
    },
    connectPlain: async ({ host, port }, signal) => {
      const url = URL.parse(`http://${host}:${port}`); // which spells every IP address in one way
      if (url === null) return failures.unresolved;
      const addresses = await judged(url, signal, guard.mayReach);
      if (!Array.isArray(addresses)) return addresses;
      return open(url, { lookup: given(addresses), secureContext, protocols: [] }, signal);
    },
    openHttp2: (url, opened) => {
      const lookUp = async (...[host, options, done]: Parameters<Lookup>): Promise<void> => {
        const found = await judged(url, AbortSignal.timeout(mostLookupMs));
        if (Array.isArray(found)) given(found)(host, options, done);
        else done(new Error(found.reason), []);
      };
      const lookup: Lookup = (...asked) => void lookUp(...asked);
      const socket = tlsSocket(url, { lookup, secureContext, protocols: ["h2"] });
      return socket.once("secureConnect", () => {
        if (socket.alpnProtocol === "h2") opened();
        else socket.destroy(new Error("the server does not speak HTTP/2"));
      });
    },
  };
};

const mostLookupMs = 5_000;

const addressesOf = async (host: string, resolve: Resolve, signal: AbortSignal): Promise<string[] | Failure> => {
  if (isIP(host) !== 0) return [host];
  try {
    const addresses = await untilAborted(resolve(host, signal), signal);
    return addresses.length === 0 ? failures.unresolved : addresses;
  } catch {
    return signal.aborted ? failures.resolvedLate : failures.noNameServer;
  }
};

/** The promise's result; rejects when `signal` aborts first. */
export const untilAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Error("aborted"));
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
};

type Lookup = NonNullable<TcpNetConnectOpts["lookup"]>;

type Target = { lookup: Lookup; secureContext: SecureContext; protocols: readonly Protocol[] };

const open = (url: URL, target: Target, signal: AbortSignal): Promise<Socket | Failure> => {
  const { promise, resolve } = Promise.withResolvers<Socket | Failure>();
  if (signal.aborted) return Promise.resolve(failures.connectedLate);
  const isPlain = url.protocol === "http:";
  const socket = isPlain ? netConnect(tcpOptions(url, target)) : tlsSocket(url, target);
  let isReached = false;
  const settle = (end: Socket | Failure): void => {
    signal.removeEventListener("abort", giveUp);
    resolve(end);
  };
  const giveUp = (): void => {
    settle(failures.connectedLate);
    socket.destroy();
  };
  signal.addEventListener("abort", giveUp, { once: true });
  socket.once("connect", () => {
    isReached = true;
  });
  socket.once(isPlain ? "connect" : "secureConnect", () => settle(socket));
  socket.on("error", (error) => settle(connectFailure(error, isReached))); // later ones are the exchange's to tell
  return promise;
};

/** Addresses are tried in turn, IPv6 and IPv4 by RFC 8305, as Node does; only what was judged is among them. */
const tcpOptions = (url: URL, { lookup }: Target): TcpNetConnectOpts => ({
  host: hostOf(url),
  port: portOf(url),
  noDelay: true,
  autoSelectFamily: true,
  lookup,
});

/** Addresses that were judged, instead of what the name leads to by now. */
const given =
  (addresses: readonly string[]): Lookup =>
  (_host, _options, done) =>
    done(
      null,
      addresses.slice(0, mostTried).map((address) => ({ address, family: isIP(address) })),
    );

const mostTried = 8;

/** `rejectUnauthorized` is said so that NODE_TLS_REJECT_UNAUTHORIZED cannot unsay it. */
const tlsSocket = (url: URL, target: Target): TLSSocket =>
  tlsConnect({
    ...tcpOptions(url, target),
    ...(isIP(hostOf(url)) === 0 ? { servername: hostOf(url) } : {}),
    secureContext: target.secureContext,
    ALPNProtocols: [...target.protocols],
    rejectUnauthorized: true,
  });
