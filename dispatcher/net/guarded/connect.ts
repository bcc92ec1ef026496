import { isIP, connect as netConnect, type Socket, type TcpNetConnectOpts } from "node:net";
import { createSecureContext, getCACertificates, type SecureContext, connect as tlsConnect } from "node:tls";
import { type AddressGuard, hostOf, portOf } from "#core/runtime/http/address-guard.ts";
import type { Resolve } from "#core/runtime/http/resolve.ts";
import { connectFailure, type Failure, failures } from "./failures.ts";

export type ConnectorDeps = {
  guard: AddressGuard;
  resolve: Resolve;
  /** A further certificate authority, PEM. */
  ca?: string;
};

/** Makes a connection, TLS agreed on, that has carried nothing yet; or tells why there is none. Bounded by `signal`. */
export type Connect = (url: URL, signal: AbortSignal) => Promise<Socket | Failure>;

/**
 * The one place where connections to addresses of users are made. The name is resolved anew for each, all of its
 * addresses are judged, and what is connected to are these very addresses: a name that answers differently the next
 * time gains nothing. SNI, the certificate's check and `Host` stay those of the name.
 */
export const connector = ({ guard, resolve, ca }: ConnectorDeps): Connect => {
  const secureContext = createSecureContext(ca === undefined ? {} : { ca: [...getCACertificates(), ca] });
  return async (url, signal) => {
    const addresses = await addressesOf(hostOf(url), resolve, signal);
    if (!Array.isArray(addresses)) return addresses;
    if (!addresses.every((address) => guard.mayConnect(address, url))) return failures.forbidden;
    return open(url, { addresses, secureContext }, signal);
  };
};

const addressesOf = async (host: string, resolve: Resolve, signal: AbortSignal): Promise<string[] | Failure> => {
  if (isIP(host) !== 0) return [host];
  try {
    const addresses = await untilAborted(resolve(host, signal), signal);
    return addresses.length === 0 ? failures.unresolved : addresses;
  } catch {
    return signal.aborted ? failures.resolvedLate : failures.noNameServer;
  }
};

const untilAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(new Error("aborted"));
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
};

type Target = { addresses: readonly string[]; secureContext: SecureContext };

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
const tcpOptions = (url: URL, { addresses }: Target): TcpNetConnectOpts => ({
  host: hostOf(url),
  port: portOf(url),
  noDelay: true,
  autoSelectFamily: true,
  lookup: (_host, _options, done) =>
    done(
      null,
      addresses.slice(0, mostTried).map((address) => ({ address, family: isIP(address) })),
    ),
});

const mostTried = 8;

/** `rejectUnauthorized` is said so that NODE_TLS_REJECT_UNAUTHORIZED cannot unsay it. */
const tlsSocket = (url: URL, target: Target): Socket =>
  tlsConnect({
    ...tcpOptions(url, target),
    ...(isIP(hostOf(url)) === 0 ? { servername: hostOf(url) } : {}),
    secureContext: target.secureContext,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: true,
  });
