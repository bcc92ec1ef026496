import { once } from "node:events";
import {
  createServer as createPlain,
  type IncomingMessage,
  maxHeaderSize,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createEncrypted } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#core/domain/clock.ts";
import { ulid } from "#core/domain/ids.ts";
import { AppError, errorStatuses, invalid } from "#core/errors.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Certificates } from "#core/runtime/tls/certificates.ts";
import { serviceVersion } from "../middleware/request-id.ts";
import { envelope } from "../protocol/problem.ts";

export type HttpServerOptions = {
  host: string;
  port: number;
  /** Encrypts with it; each connection with the one that is there by then. */
  tls?: Certificates | undefined;
  /** For so long after stop requests are still taken: proxies and clients hear only then that this replica goes. */
  drainMs: number;
  /** Replies that go on, at most: each keeps a connection beside those of other requests. */
  mostStreams: number;
  /** How long a request with a body may take to come, ms; {@link longestRequestMs} at most. */
  bodyMs: (request: Pick<IncomingMessage, "method" | "url">) => number;
  /** `isStopping` tells the handler to close each connection with its reply. */
  handler: (isStopping: () => boolean) => RequestListener;
  clock: Clock;
};

/** Listens for REST requests; on stop it drains, then takes no new ones and finishes those in hand. */
export const httpServer = ({
  host,
  port,
  tls,
  drainMs,
  mostStreams,
  bodyMs,
  handler,
  clock,
}: HttpServerOptions): Part & { port: () => number } => {
  let isStopping = false;
  const answer = handler(() => isStopping);
  const { server, unfollow } = tls === undefined ? plain(answer) : encrypted(answer, tls);
  server.maxConnections = 10_000 + mostStreams;
  server.headersTimeout = 10_000;
  server.requestTimeout = longestRequestMs;
  server.on("request", (request: IncomingMessage, reply: ServerResponse) => {
    if (hasBody(request)) refuseLate(request, reply, { ms: bodyMs(request), clock });
  });
  server.keepAliveTimeout = 75_000; // longer than a load balancer's 60 s, so that it closes first
  server.on("checkExpectation", answer); // Node would answer with a bare 417
  server.on("connect", (_request, socket) => refuse(invalid("request", "must not be CONNECT"), socket, clock));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => refuseUnread(error, socket, clock));
  return {
    name: "http server",
    port: () => (server.address() as AddressInfo | null)?.port ?? port, // sound: it listens on TCP only
    start: () => listen(server, host, port),
    stop: async (signal) => {
      isStopping = true;
      await sleep(drainMs, undefined, { signal }).catch(() => undefined); // or until the grace is over
      await close(server, signal);
      unfollow();
    },
  };
};

const longestRequestMs = 900_000; // of the request alone: its headers and body

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";

/** Ends a request whose body has not come by then. Node's own bound is one for all requests. */
const refuseLate = (
  request: IncomingMessage,
  reply: ServerResponse,
  { ms, clock }: { ms: number; clock: Clock },
): void => {
  const { socket } = request;
  const timer = setTimeout(() => {
    if (request.complete) return;
    if (reply.headersSent) socket.destroy();
    else refuse(tooSlow(), socket, clock);
  }, ms);
  request.once("close", () => clearTimeout(timer));
};

const tooSlow = (): AppError => new AppError("HS_REQUEST_TIMEOUT", "the request came too slowly");

const options = {
  requireHostHeader: false, // Node would answer with a bare 400: the handler looks for it
  connectionsCheckingInterval: 2_000, // how often it is looked for requests that come too slowly; 30 s otherwise
};

type Listening = { server: Server; unfollow: () => void };

const plain = (answer: RequestListener): Listening => ({
  server: createPlain(options, answer),
  unfollow: () => undefined,
});

const encrypted = (answer: RequestListener, tls: Certificates): Listening => {
  const server = createEncrypted({ ...options, handshakeTimeout: 10_000 }, answer);
  return { server, unfollow: tls.follow(({ cert, key }) => server.setSecureContext({ cert, key })) };
};

/** What is not HTTP, or too large or slow a header, never reaches the handler. */
const refuseUnread = (error: NodeJS.ErrnoException, socket: Duplex, clock: Clock): void => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  refuse(parseProblem(error.code), socket, clock);
};

/** Answers in the envelope, as the handler would, and closes the connection. */
const refuse = (problem: AppError, socket: Duplex, clock: Clock): void => {
  const requestId = ulid(clock.now());
  const status = errorStatuses[problem.code];
  const body = envelope(problem, requestId);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    `Service-Version: ${serviceVersion}`,
    "X-RateLimit-Limit: 0",
    "X-RateLimit-Remaining: 0",
    "X-RateLimit-Reset: 1",
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
};

const parseProblem = (code: string | undefined): AppError => {
  if (code === "HPE_HEADER_OVERFLOW") {
    return new AppError("HS_HEADERS_TOO_LARGE", "the headers are too large", { limit_bytes: maxHeaderSize });
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return tooSlow();
  return invalid("request", "is not valid HTTP");
};

const listen = async (server: Server, host: string, port: number): Promise<void> => {
  server.listen(port, host, 1024);
  await once(server, "listening"); // or an error
};

const close = async (server: Server, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const giveUp = (): void => server.closeAllConnections();
  signal.addEventListener("abort", giveUp, { once: true });
  server.close(() => resolve()); // closes idle connections; an error only says that it was not open
  await promise;
  signal.removeEventListener("abort", giveUp);
};
