import type { Exchange, TransportResult } from "../transport.ts";
import { ConnectionError, type ErrorName, errorCodes, maxFrameLength, maxWindow } from "./frames.ts";
import { Http2Wire, type WireListener, type WireOptions } from "./wire.ts";

export type ConnectionLimits = {
  /** Streams at once until the first answer; APNs admits 1 until it has checked the token. */
  initialStreams: number;
  /** Streams at once after the first answer, and one more with each answer: what one break can leave without answer. */
  startStreams: number;
  /** Streams at once, however many more the provider admits. */
  maxStreams: number;
  connectTimeoutMs: number;
  /** With requests under way and nothing heard for so long, the peer is asked with a PING. */
  quietMs: number;
  /** A connection whose PING is not answered for so long is dead. */
  pingTimeoutMs: number;
  idleMs: number;
};

export type ConnectionOptions = ConnectionLimits & WireOptions;

/** What a connection reports to its pool. */
export type ConnectionListener = {
  /** The number of requests that it can take has changed. */
  changed: () => void;
  /** It surely did not send this one, which may go to another connection. */
  returned: (exchange: Exchange, reason: string) => void;
  ended: (connection: Http2Connection, reason: string) => void;
};

type Phase = "opening" | "open" | "draining" | "closed";
type UnderWay = {
  exchange: Exchange;
  sentAtMs: number;
  answer: Answer | null;
  /** A character for each byte: of an answer in many parts no part keeps the packet that it came in. */
  body: string;
  /** What the peer added to the stream's window. */
  widenedBytes: number;
};
type Answer = Extract<TransportResult, { kind: "answer" }>;

const maxAnswerBytes = 32_768; // providers answer with some hundred; more than this is cut

const idleFactor = 6; // an idle connection is asked so much less often: often enough to find a dead one before the next push

/**
 * One HTTP/2 connection and the requests under way on it. It knows for each whether the provider may have seen it, and
 * waits for no event to learn that the connection is dead: `tick` watches deadlines and asks a quiet peer with a PING.
 */
export class Http2Connection {
  readonly #options: ConnectionOptions;
  readonly #listener: ConnectionListener;
  readonly #wire: Http2Wire;
  readonly #underWay = new Map<number, UnderWay>();
  #phase: Phase = "opening";
  #providerStreams: number;
  #heardAtMs = performance.now();
  #usedAtMs = performance.now();
  #pingedAtMs: number | null = null;
  #answers = 0;
  #lost = 0;

  constructor(options: ConnectionOptions, listener: ConnectionListener) {
    this.#options = options;
    this.#listener = listener;
    this.#providerStreams = options.initialStreams;
    this.#wire = new Http2Wire(options, this.#wireListener());
  }

  get phase(): Phase {
    return this.#phase;
  }

  get answers(): number {
    return this.#answers;
  }

  /** Requests that ended without an answer because the connection did. */
  get lost(): number {
    return this.#lost;
  }

  /** Whether it has answered so often that it is given all that the provider admits. */
  get isProven(): boolean {
    return this.#answers > 0 && this.#trusted >= Math.min(this.#providerStreams, this.#options.maxStreams);
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** How many more requests it takes now. */
  get freeStreams(): number {
    if (this.#phase !== "open" || !this.#wire.hasRoom) return 0;
    return Math.min(this.#providerStreams, this.#options.maxStreams, this.#trusted) - this.#underWay.size;
  }

  get #trusted(): number {
    const { initialStreams, startStreams } = this.#options;
    return this.#answers === 0 ? Math.min(initialStreams, startStreams) : startStreams + this.#answers;
  }

  send(exchange: Exchange): void {
    const { path, headers, body, method } = exchange.request;
    const written = this.#wire.request(path, headers, body, method);
    this.#usedAtMs = performance.now();
    if (typeof written !== "number") exchange.settle(written);
    else this.#underWay.set(written, { exchange, sentAtMs: this.#usedAtMs, answer: null, body: "", widenedBytes: 0 });
  }

  /** Ends requests that are over their time or aborted, sends a PING to a quiet peer, and closes when it has long been idle. */
  tick(nowMs: number): void {
    const quietForMs = nowMs - this.#heardAtMs;
    if (this.#phase === "opening") {
      if (quietForMs > this.#options.connectTimeoutMs) this.destroy("could not connect in time");
      return;
    }
    this.#endOverdue(nowMs);
    if (this.#phase === "closed") return;
    const isIdle = this.#underWay.size === 0;
    const isOfNoUse = this.#phase === "draining" || (this.freeStreams <= 0 && quietForMs >= this.#options.quietMs);
    if (isIdle && (isOfNoUse || nowMs - this.#usedAtMs > this.#options.idleMs)) this.destroy("idle");
    else this.#watch(nowMs, quietForMs >= this.#options.quietMs * (isIdle ? idleFactor : 1));
  }

  /** Ends it at once; what is under way becomes `broken`, or returns to the pool when it surely was not sent. */
  destroy(reason: string): void {
    this.#wire.destroy(reason);
    this.#end(reason);
  }

  #wireListener(): WireListener {
    return {
      opened: () => {
        this.#phase = "open";
        this.#heard();
        this.#listener.changed();
      },
      writable: () => this.#listener.changed(),
      settings: (streams) => this.#takeSettings(streams),
      headers: (streamId, headers, isLast) => this.#takeHeaders(streamId, headers, isLast),
      data: (streamId, bytes, isLast) => this.#takeData(streamId, bytes, isLast),
      reset: (streamId, code) => this.#takeReset(streamId, code),
      fault: (streamId, error) => this.#abandon(streamId, error),
      widened: (streamId, bytes) => this.#widen(streamId, bytes),
      goaway: (lastStreamId, code, words) => this.#drain(lastStreamId, `GOAWAY ${code} ${words}`.trim()),
      pong: () => {
        this.#pingedAtMs = null;
        this.#heard();
      },
      closed: (reason) => this.#end(reason),
    };
  }

  #heard(): void {
    this.#heardAtMs = performance.now();
  }

  #takeSettings(streams: number | null): void {
    for (const { widenedBytes } of this.#underWay.values())
      if (this.#isTooWide(widenedBytes)) throw new ConnectionError("FLOW_CONTROL_ERROR");
    this.#providerStreams = streams ?? this.#providerStreams;
    this.#heard();
    this.#listener.changed();
  }

  #widen(streamId: number, bytes: number): void {
    const underWay = this.#underWay.get(streamId);
    if (underWay === undefined) return;
    underWay.widenedBytes += bytes;
    if (this.#isTooWide(underWay.widenedBytes)) this.#abandon(streamId, "FLOW_CONTROL_ERROR");
  }

  /** A request has used at most one frame of its stream's window. Source: RFC 9113 6.9.1. */
  #isTooWide(widenedBytes: number): boolean {
    return widenedBytes > 0 && this.#wire.streamWindow + widenedBytes - maxFrameLength > maxWindow;
  }

  #takeHeaders(streamId: number, headers: Record<string, string>, isLast: boolean): void {
    this.#heard();
    const underWay = this.#underWay.get(streamId);
    if (underWay === undefined) return;
    if (underWay.answer === null) {
      const status = statusOf(headers);
      if (status === null || (status < 200 && isLast)) return this.#abandon(streamId, "PROTOCOL_ERROR");
      if (status >= 200) underWay.answer = { kind: "answer", status, headers, body: "" };
    } else if (!isLast) return this.#abandon(streamId, "PROTOCOL_ERROR"); // trailers end a stream
    if (isLast) this.#answer(streamId, underWay);
  }

  #takeData(streamId: number, bytes: Buffer, isLast: boolean): void {
    const underWay = this.#underWay.get(streamId);
    if (underWay === undefined) return;
    if (underWay.answer === null) return this.#abandon(streamId, "PROTOCOL_ERROR");
    underWay.body += bytes.toString("latin1");
    if (isLast) return this.#answer(streamId, underWay);
    if (underWay.body.length <= maxAnswerBytes) return;
    this.#wire.reset(streamId, "CANCEL");
    this.#answer(streamId, underWay);
  }

  #answer(streamId: number, underWay: UnderWay): void {
    this.#answers++;
    this.#finish(streamId, underWay, "");
    this.#listener.changed();
  }

  /** The peer broke the protocol on this stream. Source: RFC 9113 5.4.2. */
  #abandon(streamId: number, error: ErrorName): void {
    const underWay = this.#underWay.get(streamId);
    if (underWay === undefined) return;
    this.#wire.reset(streamId, error);
    this.#finish(streamId, underWay, `the answer breaks the protocol: ${error}`);
    this.#listener.changed();
  }

  #takeReset(streamId: number, code: number): void {
    this.#heard();
    const underWay = this.#underWay.get(streamId);
    if (underWay === undefined) return;
    const reason = `the stream was reset with code ${code}`;
    if (code === errorCodes.REFUSED_STREAM) this.#giveBack(streamId, underWay, reason);
    else this.#finish(streamId, underWay, reason);
    this.#listener.changed();
  }

  /** RFC 9113 6.8: streams above GOAWAY's last stream id were not processed; those below it may still be answered. */
  #drain(lastStreamId: number, reason: string): void {
    if (this.#phase === "closed") return;
    this.#phase = "draining";
    for (const [streamId, underWay] of this.#underWay)
      if (streamId > lastStreamId) this.#giveBack(streamId, underWay, reason);
    this.#listener.changed();
  }

  /** To the pool, unless it was answered: then it was processed, whatever the peer says after. */
  #giveBack(streamId: number, underWay: UnderWay, reason: string): void {
    if (underWay.answer !== null) return this.#finish(streamId, underWay, reason);
    this.#underWay.delete(streamId);
    this.#wire.progressed();
    this.#listener.returned(underWay.exchange, reason);
  }

  /** With a status the answer is known, even when its body was cut. */
  #finish(streamId: number, { exchange, answer, body }: UnderWay, reason: string): void {
    this.#underWay.delete(streamId);
    this.#wire.progressed();
    if (answer === null) exchange.settle({ kind: "broken", reason });
    else exchange.settle(body === "" ? answer : { ...answer, body: Buffer.from(body, "latin1").toString("utf8") });
  }

  #endOverdue(nowMs: number): void {
    let unheard = 0;
    for (const [streamId, underWay] of this.#underWay) {
      const { exchange, sentAtMs } = underWay;
      const { aborted } = exchange.request.signal;
      if (!aborted && nowMs < exchange.deadlineAtMs) continue;
      this.#wire.reset(streamId, "CANCEL");
      if (!aborted && this.#heardAtMs < sentAtMs) unheard++;
      this.#finish(streamId, underWay, aborted ? "it was cut off before the answer" : "no answer in time");
    }
    this.#lost += unheard;
    if (unheard > 0) this.destroy("nothing was heard on the connection");
  }

  #watch(nowMs: number, isQuiet: boolean): void {
    if (this.#pingedAtMs !== null) {
      if (nowMs - this.#pingedAtMs > this.#options.pingTimeoutMs) this.destroy("the connection is deaf");
    } else if (isQuiet) {
      this.#pingedAtMs = nowMs;
      this.#wire.ping();
    }
  }

  #end(reason: string): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    for (const [streamId, underWay] of this.#underWay)
      if (!this.#wire.wasWritten(streamId)) this.#giveBack(streamId, underWay, reason);
      else {
        this.#lost++;
        this.#finish(streamId, underWay, reason);
      }
    this.#listener.ended(this, reason);
  }
}

/** Null when it has none: three digits. Source: RFC 9113 8.3.2. */
const statusOf = ({ ":status": status = "" }: Record<string, string>): number | null =>
  /^[1-9]\d\d$/.test(status) ? Number(status) : null;
