import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Certificate } from "./certificate.ts";
import { calm, type Script } from "./script.ts";

export type SimulatedRequest = { method: string; path: string; headers: IncomingHttpHeaders; body: string };
export type SimulatedAnswer = { status: number; headers?: Record<string, string>; body?: string };

export type Http2ServerOptions = {
  port: number;
  tls: Certificate;
  /** Streams admitted until a connection's first request was answered, as APNs does it. */
  initialStreams?: number;
  /** How bodies are read; `latin1` has a character for each byte. */
  encoding?: "utf8" | "latin1";
  answer: (request: SimulatedRequest) => SimulatedAnswer;
};

export type SimulatedServer = { url: string; apply: (script: Script) => void; stop: () => Promise<void> };

/** An HTTP/2 server over TLS on loopback that misbehaves as its script says. */
export const startHttp2Server = async (options: Http2ServerOptions): Promise<SimulatedServer> => {
  const server = new FaultyServer(options);
  const url = await server.listen(options.port);
  return { url, apply: (script) => server.apply(script), stop: () => server.stop() };
};

type Connection = {
  session: ServerHttp2Session;
  socket: Socket | undefined;
  requests: number;
  lastStreamId: number;
  deaf: boolean;
};

class FaultyServer {
  readonly #options: Http2ServerOptions;
  readonly #server: Http2SecureServer;
  readonly #sockets = new Map<number, Socket>();
  readonly #connections = new Map<ServerHttp2Session, Connection>();
  #script = calm;

  constructor(options: Http2ServerOptions) {
    this.#options = options;
    this.#server = createSecureServer({
      ...options.tls,
      settings: { maxConcurrentStreams: options.initialStreams ?? calm.max_streams },
      maxSessionMemory: 64,
    });
    this.#server
      .on("connection", (socket: Socket) => this.#accept(socket))
      .on("session", (session) => this.#open(session))
      .on("stream", (stream, headers) => this.#take(stream, headers))
      .on("sessionError", () => {}); // a cut link is what scripts are for
  }

  async listen(port: number): Promise<string> {
    const listening = Promise.withResolvers<void>();
    this.#server.once("error", listening.reject).listen(port, "127.0.0.1", listening.resolve);
    await listening.promise;
    const { port: bound } = this.#server.address() as AddressInfo; // a TCP server's address is never a string
    return `https://127.0.0.1:${bound}`;
  }

  apply(script: Script): void {
    this.#script = script;
    if (script.refuse_connections) for (const socket of this.#sockets.values()) socket.destroy();
    for (const { session, requests } of this.#connections.values()) if (requests > 0) this.#announceStreams(session);
  }

  stop(): Promise<void> {
    const stopped = Promise.withResolvers<void>();
    this.#server.close(() => stopped.resolve());
    for (const socket of this.#sockets.values()) socket.destroy();
    return stopped.promise;
  }

  #accept(socket: Socket): void {
    if (this.#script.refuse_connections) {
      socket.destroy();
      return;
    }
    const port = socket.remotePort ?? 0;
    this.#sockets.set(port, socket);
    socket.once("close", () => this.#sockets.delete(port));
  }

  #open(session: ServerHttp2Session): void {
    const socket = this.#sockets.get(session.socket.remotePort ?? 0);
    this.#connections.set(session, {
      session,
      socket,
      requests: 0,
      lastStreamId: Number.POSITIVE_INFINITY,
      deaf: false,
    });
    session.once("close", () => this.#connections.delete(session)).on("error", () => {});
    if (this.#options.initialStreams === undefined) this.#announceStreams(session);
  }

  #announceStreams(session: ServerHttp2Session): void {
    if (!session.destroyed) session.settings({ maxConcurrentStreams: this.#script.max_streams });
  }

  #take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on("error", () => {});
    const connection = stream.session && this.#connections.get(stream.session as ServerHttp2Session); // a server's session
    if (!connection || connection.deaf || (stream.id ?? 0) > connection.lastStreamId) return;
    connection.requests++;
    if (connection.requests === 1 && this.#options.initialStreams !== undefined)
      this.#announceStreams(connection.session);
    this.#sayGoodbye(connection, stream);
    let body = "";
    stream.setEncoding(this.#options.encoding ?? "utf8").on("data", (text: string) => {
      body += text;
    });
    const { requests } = connection;
    stream.on("end", () => this.#process(connection, requests, stream, { headers, body }));
  }

  #process(
    connection: Connection,
    nth: number,
    stream: ServerHttp2Stream,
    { headers, body }: { headers: IncomingHttpHeaders; body: string },
  ): void {
    if (connection.deaf) return;
    const { ":method": method = "", ":path": path = "" } = headers;
    const answer = this.#options.answer({ method, path, headers, body });
    const { reset_every, deaf_after, delay_ms } = this.#script;
    if (reset_every > 0 && nth % reset_every === 0) connection.socket?.resetAndDestroy();
    else if (deaf_after > 0 && nth >= deaf_after) goDeaf(connection);
    else if (delay_ms > 0) setTimeout(() => reply(stream, answer), delay_ms).unref();
    else reply(stream, answer);
  }

  #sayGoodbye(connection: Connection, { id = 0 }: ServerHttp2Stream): void {
    const { goaway_every } = this.#script;
    if (goaway_every === 0 || connection.requests < goaway_every) return;
    connection.lastStreamId = id;
    connection.session.goaway(constants.NGHTTP2_NO_ERROR, id);
    connection.session.close();
  }
}

const reply = (stream: ServerHttp2Stream, { status, headers, body }: SimulatedAnswer): void => {
  if (stream.destroyed || stream.closed) return;
  stream.respond({ ":status": status, ...headers }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
};

/** Stops reading from the network below TLS and HTTP/2, as a host that vanished: no answer, not even to a PING. */
const goDeaf = (connection: Connection): void => {
  connection.deaf = true;
  const { _handle } = (connection.socket ?? {}) as { _handle?: { readStop: () => void } }; // node has no public way to it
  setImmediate(() => _handle?.readStop()); // within a read it would be undone
};
