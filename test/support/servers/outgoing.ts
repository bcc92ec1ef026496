import { type RequestListener, Server } from "node:http";
import { type AddressInfo, createServer as createTcp, type Server as NetServer, type Socket } from "node:net";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import {
  type GuardedClient,
  type GuardedClientDeps,
  type GuardedReply,
  type GuardedRequest,
  guardedClient,
} from "../../../dispatcher/net/guarded/client.ts";

/** Makes connections to this machine alone. */
export const connectHere: GuardedClient["connect"] = guardedClient({
  guard: addressGuard({ allow: ["127.0.0.0/8"] }),
}).connect;

export type Outgoing = {
  /** A client that may reach 127.0.0.1. */
  client: (deps?: Partial<GuardedClientDeps>) => GuardedClient;
  /** The port of a server on loopback. */
  listen: (server: NetServer, host?: string) => Promise<number>;
  http: (listener: RequestListener) => Promise<number>;
  tcp: (listener: (socket: Socket) => void) => Promise<number>;
  /** Connections that the servers got so far. */
  connections: () => number;
};

/** Clients and servers of one test file, each closed after its test. */
export const outgoing = (): Outgoing => {
  const clients: GuardedClient[] = [];
  const servers: NetServer[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const listen = async (server: NetServer, host = "127.0.0.1"): Promise<number> => {
    servers.push(server);
    server.on("connection", (socket: Socket) => {
      connections++;
      sockets.add(socket);
      socket.on("error", () => {}); // the client resets what it does not want
    });
    await new Promise<void>((done) => void server.listen(0, host, done));
    return (server.address() as AddressInfo).port; // a TCP server's address is never a string
  };
  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
    for (const socket of sockets) socket.destroy();
    for (const server of servers.splice(0)) server.close();
    sockets.clear();
    connections = 0;
  });
  return {
    client: (deps = {}) => {
      const client = guardedClient({ guard: addressGuard({ allow: ["127.0.0.1"] }), ...deps });
      clients.push(client);
      return client;
    },
    listen,
    http: (listener) => listen(new Server(listener)),
    tcp: (listener) => listen(createTcp(listener)),
    connections: () => connections,
  };
};

const never = new AbortController().signal;

/** One request. Its limits leave a busy machine time for what is answered; what is not is given shorter ones. */
export const ask = (
  client: GuardedClient,
  url: string,
  over: Partial<GuardedRequest> = {},
  signal = never,
): Promise<GuardedReply> =>
  client.request(
    {
      url: new URL(url),
      method: "POST",
      headers: {},
      body: "hello",
      poolKey: "whk_1",
      maxConnections: 10,
      mayRepeat: true,
      timeoutMs: 9_000,
      connectTimeoutMs: 5_000,
      maxReplyBytes: 1_000,
      ...over,
    },
    signal,
  );
