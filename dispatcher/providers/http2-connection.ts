import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from "node:http2";
import type { Exchange, TransportResult } from "./transport.ts";

export type ConnectionLimits = {
  /** Streams at once until the first answer; APNs admits 1 until it has checked the token. */
  initialStreams: number;
  /** Streams at once, however many more the provider admits. */
  maxStreams: number;
  connectTimeoutMs: number;
  /** With requests under way and nothing heard for so long, the peer is asked with a PING. */
  quietMs: number;
  /** A PING that is not answered for so long means a deaf connection. */
  pingTimeoutMs: number;
  idleMs: number;
};

export type ConnectionOptions = ConnectionLimits & { origin: string; ca?: string };

/** What a connection tells its pool. */
export type ConnectionListener = {
  /** It can take more, less or nothing now. */
  changed: () => void;
  /** It surely did not send this one, which may go to another connection. */
  returned: (exchange: Exchange, reason: string) => void;
  ended: (connection: Http2Connection, reason: string) => void;
};

type Phase = "opening" | "open" | "draining" | "closed";
type UnderWay = { stream: ClientHttp2Stream; sentAtMs: number; answer: Answer | null };
type Answer = Extract<TransportResult, { kind: "answer" }>;

const maxAnswerLength = 65_536; // providers answer with some hundred characters; the rest is dropped

/**
 * One HTTP/2 session. It knows for each request whether the provider may have seen it, and never waits for node:http2
 * to say that a session is dead: after a TCP reset with many streams under way neither `error` nor `close` may come
 * (docs/decisions/0010), so `tick` watches deadlines and pings.
 */
export class Http2Connection {
  readonly #options: ConnectionOptions;
  readonly #listener: ConnectionListener;
  readonly #session: ClientHttp2Session;
  readonly #underWay = new Map<Exchange, UnderWay>();
  #phase: Phase = "opening";
  #providerStreams: number;
  #goawayLastStreamId = Number.POSITIVE_INFINITY;
  #endReason = "the connection was closed";
  #heardAtMs = performance.now();
  #pingedAtMs: number | null = null;
  #answered = false;

  constructor(options: ConnectionOptions, listener: ConnectionListener) {
    this.#options = options;
    this.#listener = listener;
    this.#providerStreams = options.initialStreams;
    this.#session = connect(options.origin, {
      settings: { enablePush: false },
      maxSessionMemory: 64, // MB; node's 10 refuses streams when 1,000 bodies of 4 KB wait
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    });
    this.#session
      .on("connect", () => this.#connected())
      .on("remoteSettings", ({ maxConcurrentStreams }) => this.#learnStreams(maxConcurrentStreams))
      .on("goaway", (code, lastStreamId) => this.#drain(code, lastStreamId))
      .on("error", (error: Error) => this.#noteError(error))
      .on("close", () => this.#end(this.#endReason));
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Whether the provider has answered anything on this connection. */
  get answered(): boolean {
    return this.#answered;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** How many more requests it takes now. */
  get room(): number {
    if (this.#phase !== "open") return 0;
    const admitted = this.#answered
      ? this.#providerStreams
      : Math.min(this.#providerStreams, this.#options.initialStreams);
    return Math.min(admitted, this.#options.maxStreams) - this.#underWay.size;
  }

  send(exchange: Exchange): void {
    const { path, headers, body } = exchange.request;
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request({ ":method": "POST", ":path": path, ...headers });
    } catch (error) {
      this.#noteError(error);
      this.#drain(constants.NGHTTP2_NO_ERROR, Number.POSITIVE_INFINITY);
      this.#listener.returned(exchange, this.#endReason);
      return;
    }
    this.#underWay.set(exchange, { stream, sentAtMs: performance.now(), answer: null });
    stream
      .on("response", (headers, flags) => this.#hear(exchange, headers, flags))
      .on("error", () => {}) // "close" follows and is what counts
      .on("close", () => this.#streamClosed(exchange))
      .end(body);
  }

  /** Ends what is over its time or aborted, asks a quiet peer for a sign of life, closes when long idle. */
  tick(nowMs: number): void {
    if (this.#phase === "opening" && nowMs - this.#heardAtMs > this.#options.connectTimeoutMs) {
      this.destroy("could not connect in time");
      return;
    }
    this.#endOverdue(nowMs);
    if (this.#phase === "closed") return;
    const quietForMs = nowMs - this.#heardAtMs;
    if (this.#underWay.size > 0) this.#watch(nowMs, quietForMs);
    else if (this.#phase === "draining" || quietForMs > this.#options.idleMs) this.destroy("idle");
  }

  /** Ends it at once; what is under way becomes `broken`, or returns to the pool when it surely was not sent. */
  destroy(reason: string): void {
    this.#session.destroy();
    this.#end(reason);
  }

  #connected(): void {
    this.#phase = "open";
    this.#heardAtMs = performance.now();
    this.#listener.changed();
  }

  #learnStreams(maxConcurrentStreams: number | undefined): void {
    this.#heardAtMs = performance.now();
    this.#providerStreams = maxConcurrentStreams ?? this.#options.maxStreams;
    this.#listener.changed();
  }

  #drain(code: number, lastStreamId: number): void {
    if (this.#phase === "closed") return;
    if (code !== constants.NGHTTP2_NO_ERROR) this.#endReason = `GOAWAY with code ${code}`;
    this.#goawayLastStreamId = Math.min(this.#goawayLastStreamId, lastStreamId);
    this.#phase = "draining";
    this.#listener.changed();
  }

  #noteError(error: unknown): void {
    if (error instanceof Error) this.#endReason = "code" in error ? String(error.code) : error.message;
  }

  #hear(exchange: Exchange, headers: IncomingHttpHeaders & IncomingHttpStatusHeader, flags: number): void {
    this.#heardAtMs = performance.now();
    this.#answered = true;
    const underWay = this.#underWay.get(exchange);
    if (underWay === undefined) return;
    const { stream } = underWay;
    const answer: Answer = { kind: "answer", status: headers[":status"] ?? 0, headers, body: "" };
    underWay.answer = answer;
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) === 0) {
      stream.setEncoding("utf8").on("data", (text: string) => append(answer, text));
      return;
    }
    stream.resume();
    this.#finish(exchange, underWay, "");
    this.#listener.changed();
  }

  #streamClosed(exchange: Exchange): void {
    const underWay = this.#underWay.get(exchange);
    if (underWay === undefined) return;
    const { stream, answer } = underWay;
    // A dying session closes its streams before it tells of its GOAWAY: its own "close" decides on them.
    if (answer === null && this.#session.destroyed) return;
    this.#finish(exchange, underWay, `the stream was closed with code ${stream.rstCode}`);
    this.#listener.changed();
  }

  #finish(exchange: Exchange, { stream, answer }: UnderWay, reason: string): void {
    this.#underWay.delete(exchange);
    if (answer !== null) exchange.settle(answer);
    else if (this.#surelyNotProcessed(stream)) this.#listener.returned(exchange, reason);
    else exchange.settle({ kind: "broken", reason });
  }

  /** RFC 9113 6.8 and 8.7: refused streams and those above GOAWAY's last stream id were not processed. */
  #surelyNotProcessed(stream: ClientHttp2Stream): boolean {
    if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return true;
    return stream.id === undefined || stream.id > this.#goawayLastStreamId;
  }

  #endOverdue(nowMs: number): void {
    let deaf = false;
    for (const [exchange, { stream, sentAtMs }] of this.#underWay) {
      const { signal } = exchange.request;
      if (!signal.aborted && nowMs < exchange.deadlineAtMs) continue;
      this.#underWay.delete(exchange);
      stream.close(constants.NGHTTP2_CANCEL);
      if (signal.aborted) exchange.abort();
      else exchange.settle({ kind: "broken", reason: "no answer in time" });
      deaf ||= !signal.aborted && this.#heardAtMs < sentAtMs;
    }
    if (deaf) this.destroy("nothing was heard on the connection");
  }

  #watch(nowMs: number, quietForMs: number): void {
    if (this.#pingedAtMs !== null) {
      if (nowMs - this.#pingedAtMs > this.#options.pingTimeoutMs) this.destroy("the connection is deaf");
      return;
    }
    if (quietForMs < this.#options.quietMs || this.#session.destroyed) return;
    this.#pingedAtMs = nowMs;
    this.#session.ping((error) => {
      if (error !== null) return;
      this.#pingedAtMs = null;
      this.#heardAtMs = performance.now();
    });
  }

  #end(reason: string): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    for (const [exchange, underWay] of this.#underWay) this.#finish(exchange, underWay, reason);
    this.#listener.ended(this, reason);
  }
}

const append = (answer: Answer, text: string): void => {
  if (answer.body.length < maxAnswerLength) answer.body += text;
};
