import type { Socket } from "node:net";
import type { Client } from "undici";
import Http1Client from "undici/lib/dispatcher/client.js"; // alone: the whole package takes ten times as long to load

/** A connection that speaks HTTP/1.1, one request at a time. */
export type Connection = {
  socket: Socket;
  client: Client;
  /** Bytes since its beginning at which it is closed: what is no body (announcements, chunk extensions) is bounded too. */
  closeAtBytes: number;
  /** When it was given to a request last, ms. */
  takenMs: number;
};

/** undici's HTTP/1.1 over a socket that stands already. It closes the socket after 4 s without a request. */
export const connectionOver = (socket: Socket, url: URL): Connection => {
  const connection: Connection = {
    socket,
    client: clientOver(socket, url),
    closeAtBytes: 0,
    takenMs: performance.now(),
  };
  const watch = (): void => {
    if (socket.bytesRead > connection.closeAtBytes) socket.destroy();
  };
  connection.client.once("connect", () => socket.on("readable", watch)); // after undici's own listener
  return connection;
};

const clientOver = (socket: Socket, url: URL): Client => {
  let isHanded = false;
  return new Http1Client(url.origin, {
    ...limits,
    connect: (_options, done) => {
      // asked for again when the socket has closed: it must not make one, for only our own are judged
      if (isHanded) return process.nextTick(done, closed(), null);
      isHanded = true;
      process.nextTick(done, null, socket); // undici loses a request whose connection comes in the same turn
    },
  });
};

const closed = (): Error => Object.assign(new Error("the connection is closed"), { code: "ECONNRESET" });

const limits = {
  pipelining: 1,
  allowH2: false,
  maxHeaderSize: 16_384,
  headersTimeout: 0, // the exchange has one deadline for all of it
  bodyTimeout: 0,
  keepAliveTimeout: 4_000, // shorter than most servers keep theirs (5 s and more)
  keepAliveTimeoutThreshold: 1_000, // so much before the end that a server's Keep-Alive header names
  keepAliveMaxTimeout: 30_000,
} satisfies Client.Options;
