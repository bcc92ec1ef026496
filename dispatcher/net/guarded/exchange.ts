import type { Dispatcher } from "undici";
import type { Connection } from "./connection.ts";
import { exchangeFailure, type Failure, failures } from "./failures.ts";

export type GuardedRequest = {
  url: URL;
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | string;
  /** Whose connections are used: one owner's are never lent to another. */
  poolKey: string;
  /** Requests of the owner to this origin under way at once, each on its own connection; further ones wait. */
  maxConnections: number;
  /**
   * Whether the receiver tells repetitions apart. Then a request that was written to a kept connection, and met its
   * closing before a byte of an answer, is made once more on a new one.
   */
  mayRepeat: boolean;
  /** From the start of the look-up to the last byte of the answer. */
  timeoutMs: number;
  /** Look-up, TCP and TLS, all in all. */
  connectTimeoutMs: number;
  /** What is kept of the answer's body; its connection is closed when there is more. */
  maxReplyBytes: number;
  /** Whether it goes over HTTP/2 where the origin speaks it, beside the owner's others on one connection. */
  mayUseHttp2?: boolean;
  /** Asked last of all before it is written: true gives it up, which is `unreached`. */
  isOver?: (() => boolean) | undefined;
};

/** Names in lower case; what came repeatedly is joined by commas. */
export type ReplyHeaders = Readonly<Record<string, string>>;

export type GuardedReply =
  /** `broken` tells why the body could not be read to its end (or to `maxReplyBytes`); null when it could. */
  | { kind: "answered"; status: number; headers: ReplyHeaders; body: Buffer; broken: Failure | null }
  /** The request itself cannot be made: it never will be. */
  | ({ kind: "refused" } & Failure)
  /** No connection could be made: nothing was sent. */
  | ({ kind: "unreached" } & Failure)
  /** Connected, but no answer came: it may have been received. */
  | ({ kind: "broken" } & Failure);

/** `reached`: how far it came. */
export type Exchanged = { reply: GuardedReply; reached: "nothing" | "request" | "answer" };

/** Sends one request over a connection and reads its answer. When `signal` aborts the connection is closed. */
export const exchange = (
  connection: Connection,
  { url, method, headers, body, maxReplyBytes }: GuardedRequest,
  signal: AbortSignal,
): Promise<Exchanged> => {
  const { client, socket } = connection;
  const { promise, resolve } = Promise.withResolvers<Exchanged>();
  const answer = answerOf(maxReplyBytes);
  let reached: Exchanged["reached"] = "nothing";
  const settle = (failure: Failure | null): void => {
    signal.removeEventListener("abort", giveUp);
    resolve({ reply: answer.reply(failure), reached });
  };
  const giveUp = (): void => {
    settle(failures.answeredLate);
    socket.destroy();
  };
  signal.addEventListener("abort", giveUp, { once: true });
  connection.closeAtBytes = socket.bytesRead + maxReplyBytes + maxFramingBytes;
  client.dispatch({ method, path: `${url.pathname}${url.search}`, headers, body: bytesOf(body) }, {
    onRequestStart: () => {
      reached = "request";
    },
    onResponseStarted: () => {
      reached = "answer";
    },
    onResponseStart: (_, status, given) => answer.start(status, given),
    onResponseData: (_, piece) => {
      if (answer.add(piece)) return;
      settle(null); // the rest is not wanted
      socket.destroy();
    },
    onResponseEnd: () => settle(null),
    onResponseError: (_, error) => settle(exchangeFailure(error, answer.hasStarted())),
  } satisfies Dispatcher.DispatchHandler);
  return promise;
};

/** Heads, chunk sizes and all else of an answer that is no body, and what one read may bring beyond. */
const maxFramingBytes = 262_144;

export const bytesOf = (body: Uint8Array | string): Buffer =>
  typeof body === "string" ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);

/** Collects an answer as it comes. */
const answerOf = (maxBytes: number) => {
  let head: { status: number; headers: ReplyHeaders } | null = null;
  const pieces: Buffer[] = [];
  let size = 0;
  return {
    hasStarted: (): boolean => head !== null,
    start: (status: number, headers: IncomingHeaders): void => {
      if (status >= 200) head = { status, headers: flat(headers) }; // 1xx announces the answer
    },
    /** False when it is more than is kept. */
    add: (piece: Buffer): boolean => {
      pieces.push(piece);
      size += piece.length;
      return size <= maxBytes;
    },
    reply: (failure: Failure | null): GuardedReply => {
      if (head === null) return unanswered(failure ?? failures.closed);
      return { kind: "answered", ...head, body: Buffer.concat(pieces).subarray(0, maxBytes), broken: failure };
    },
  };
};

const unanswered = (failure: Failure): GuardedReply => ({
  kind: failure.errorClass === "configuration" ? "refused" : "broken",
  ...failure,
});

type IncomingHeaders = Record<string, string | string[] | undefined>;

const flat = (given: IncomingHeaders): ReplyHeaders => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) headers[name] = String(value); // of a list: joined by commas
  return headers;
};
