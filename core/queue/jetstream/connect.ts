import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { credsAuthenticator, type NatsConnection } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import type { OnCall } from "../../runtime/metrics/stores.ts";
import { maskPasswords } from "../../runtime/process/config.ts";
import type { Log } from "../../runtime/process/log.ts";
import type { Certificates } from "../../runtime/tls/certificates.ts";
import { readNatsAddress } from "./address.ts";

/** The connection to NATS that a process shares. */
export type Nats = {
  nc: NatsConnection;
  js: JetStreamClient;
  jsm: JetStreamManager;
  isConnected: () => boolean;
  /** Calls back each time the connection is there again; the result takes the listener away. */
  onReconnect: (listener: () => void) => () => void;
  /** Milliseconds since the connection was there again for the last time; infinite when it was never lost. */
  sinceReconnectMs: () => number;
  /** Resolves when JetStream answers. */
  ping: () => Promise<void>;
  /** Sends what is buffered (acknowledgements) for at most 2 s, then closes. */
  close: () => Promise<void>;
};

/** How long JetStream may take to acknowledge a publication. */
const publishMs = 2_000;

/** Connects to NATS, waiting for as long as it is away, and reconnects without end. `url` may name several servers. */
export const connectNats = async ({ url, name, credentials, tls, log, onCall }: NatsOptions): Promise<Nats> => {
  const waiting = setTimeout(() => log?.warn({ url: maskPasswords(url) }, "nats.awaited"), 3_000);
  const nc = await connect({
    ...readNatsAddress(url),
    name,
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
    reconnectJitter: 500,
    timeout: 3_000,
    pingInterval: 10_000, // with two unanswered, a deaf server is left after 30 s
    maxPingOut: 2,
    noAsyncTraces: true, // else each request makes two errors for their stacks: 4 % of accepting a notification
    ignoreAuthErrorAbort: true, // credentials may be rotated while we run
    ...(credentials !== undefined && { authenticator: credsAuthenticator(new TextEncoder().encode(credentials)) }),
    ...(tls !== undefined && { tls: shown(tls) }),
  });
  clearTimeout(waiting);
  const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 });
  return {
    nc,
    js: timed(jetstream(nc, { timeout: publishMs }), onCall),
    jsm,
    ...watchLink(nc, log),
    ping: async () => void (await jsm.getAccountInfo()),
    close: () => close(nc),
  };
};

export type NatsOptions = {
  url: string;
  name: string;
  /** Content of a .creds file. */
  credentials?: string | undefined;
  /** Encrypts, and shows this certificate: each time it connects, the one that is there by then. */
  tls?: Certificates | undefined;
  /** Gets a line when NATS is waited for, lost and back. */
  log?: Log;
  /** Gets the duration of each publication that JetStream acknowledged. */
  onCall?: OnCall | undefined;
};

/** The client hands every member on to Node's `tls.connect`, also those that its type does not name. */
const shown = ({ context }: Certificates) => ({ handshakeFirst: false, secureContext: context });

const timed = (js: JetStreamClient, onCall: OnCall | undefined): JetStreamClient => {
  if (onCall === undefined) return js;
  const publish = js.publish.bind(js);
  js.publish = async (...given) => {
    const beganMs = performance.now();
    const ack = await publish(...given);
    onCall((performance.now() - beganMs) / 1_000);
    return ack;
  };
  return js;
};

const watchLink = (nc: NatsConnection, log?: Log): Pick<Nats, "isConnected" | "onReconnect" | "sinceReconnectMs"> => {
  const listeners = new Set<() => void>();
  let reconnectedMs = Number.NEGATIVE_INFINITY;
  let isConnected = true;
  const watch = async (): Promise<void> => {
    for await (const { type } of nc.status()) {
      if (type === "disconnect" || type === "reconnecting") {
        if (isConnected) log?.warn("nats.lost");
        isConnected = false;
      }
      if (type !== "reconnect") continue;
      log?.info("nats.back");
      isConnected = true;
      reconnectedMs = performance.now();
      for (const listener of listeners) listener();
    }
    isConnected = false;
  };
  void watch();
  return {
    isConnected: () => isConnected && !nc.isClosed(),
    sinceReconnectMs: () => performance.now() - reconnectedMs,
    onReconnect: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

const close = async (nc: NatsConnection): Promise<void> => {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, 2_000);
  await Promise.race([nc.drain().catch(() => undefined), late]);
  clearTimeout(timer);
  await nc.close();
};
