import { type Http2Pool, type Http2PoolOptions, http2Pool } from "../../../dispatcher/net/http2/pool.ts";
import type { TransportResult } from "../../../dispatcher/net/transport.ts";
import { type Peer, type PeerServer, startPeer } from "./peer.ts";

const never = new AbortController().signal;

export type Exchanges = {
  /** Starts a server that follows the script on each connection, and a client of it. */
  start: (
    script: (peer: Peer, nth: number) => Promise<void> | void,
    options?: Partial<Http2PoolOptions>,
  ) => Promise<void>;
  ask: (body?: string, timeoutMs?: number) => Promise<TransportResult>;
  pool: () => Http2Pool;
  server: () => PeerServer;
  peer: (nth?: number) => Peer;
};

/** A scripted server and a client of it for each test, both ended after it. */
export const exchanges = (): Exchanges => {
  let server: PeerServer;
  let pool: Http2Pool;
  afterEach(async () => {
    await pool.close();
    await server.stop();
  });
  return {
    start: async (script, options = {}) => {
      server = await startPeer((peer) => script(peer, server.peers.length));
      pool = http2Pool({ origin: server.origin, maxAttempts: 1, ...options });
    },
    ask: (body = "x", timeoutMs = 5_000) => pool.request({ path: "/", headers: {}, body, timeoutMs, signal: never }),
    pool: () => pool,
    server: () => server,
    peer: (nth = 1) => {
      const peer = server.peers[nth - 1];
      if (peer === undefined) throw new Error(`there is no connection ${nth}`);
      return peer;
    },
  };
};
