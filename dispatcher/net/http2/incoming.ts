import {
  ConnectionError,
  contentOf,
  type ErrorName,
  type Frame,
  flags,
  frame,
  frameReader,
  frameTypes,
  uint32,
} from "./frames.ts";
import { headerDecoder } from "./hpack.ts";
import { frameFault, settingsOf } from "./rules.ts";

/** What the frames that arrive mean. */
export type IncomingListener = {
  settings: (settings: ReadonlyMap<number, number>) => void;
  headers: (streamId: number, headers: Record<string, string>, isLast: boolean) => void;
  data: (streamId: number, bytes: Buffer, isLast: boolean) => void;
  reset: (streamId: number, code: number) => void;
  /** The peer broke the protocol on one stream, which alone has to end. Source: RFC 9113 5.4.2. */
  fault: (streamId: number, error: ErrorName) => void;
  /** The peer takes so many bytes more: on one stream, or on the connection for stream 0. */
  widened: (streamId: number, bytes: number) => void;
  /** The peer takes no streams above `lastStreamId`; `words` is what it added for people. */
  goaway: (lastStreamId: number, code: number, words: string) => void;
  pong: () => void;
};

export type IncomingDeps = {
  listener: IncomingListener;
  /** Sends a frame that the peer is owed. */
  reply: (frame: Buffer) => void;
  /** Whether this stream was begun. */
  isBegun: (streamId: number) => boolean;
};

/** Reads what arrives. Throws `ConnectionError` when the connection has to end because of it. */
export type Incoming = {
  read: (chunk: Buffer) => void;
  /** A request has ended: 1,000 frames more may come before the next one does. */
  progressed: () => void;
};

export const incoming = (deps: IncomingDeps): Incoming => {
  const reader = new Reader(deps);
  return { read: frameReader((received) => reader.take(received)), progressed: () => reader.progressed() };
};

const replenishBytes = 32_768; // half of the connection's window, RFC 9113 6.9.2
const maxBlockBytes = 65_536; // CVE-2024-27316 is a peer that never ends its headers
const mostFrames = 10_000; // while no request ends: several times what 1,000 requests under way need
const framesForEnd = 1_000; // several times what an answer needs

type Block = { streamId: number; isLast: boolean; parts: Buffer[]; bytes: number };

class Reader {
  readonly #deps: IncomingDeps;
  readonly #decode = headerDecoder();
  #hasSettings = false;
  #block: Block | null = null;
  #received = 0;
  /** Frames that may still come before a request ends: a flood of them, of any type, is cut off. */
  #framesLeft = mostFrames;

  constructor(deps: IncomingDeps) {
    this.#deps = deps;
  }

  progressed(): void {
    this.#framesLeft = Math.min(mostFrames, this.#framesLeft + framesForEnd);
  }

  take(received: Frame): void {
    const fault = this.#faultOf(received);
    if (fault !== null) throw new ConnectionError(fault);
    const { type, flags: set, streamId, payload } = received;
    const { listener, reply } = this.#deps;
    switch (type) {
      case frameTypes.data:
        return this.#takeData(received);
      case frameTypes.headers:
        this.#block = { streamId, isLast: (set & flags.endStream) !== 0, parts: [], bytes: 0 };
        return this.#takeFragment(this.#block, contentOf(received), set);
      case frameTypes.continuation:
        return this.#takeFragment(this.#block, payload, set);
      case frameTypes.priority:
        return payload.length === 5 ? undefined : listener.fault(streamId, "FRAME_SIZE_ERROR");
      case frameTypes.resetStream:
        return listener.reset(streamId, payload.readUInt32BE());
      case frameTypes.settings:
        return this.#takeSettings(received);
      case frameTypes.ping:
        if ((set & flags.ack) !== 0) return listener.pong();
        return reply(frame(frameTypes.ping, flags.ack, 0, payload));
      case frameTypes.goaway:
        return listener.goaway(number31(payload), payload.readUInt32BE(4), payload.toString("utf8", 8, 208));
      case frameTypes.windowUpdate:
        return this.#takeWindow(streamId, number31(payload));
      case frameTypes.pushPromise:
        throw new ConnectionError("PROTOCOL_ERROR"); // was forbidden by our settings
    }
  }

  /** What is wrong with a frame at this place. Source: RFC 9113 3.4, 5.1, 6.10. */
  #faultOf(received: Frame): ErrorName | null {
    if (this.#framesLeft-- === 0) return "ENHANCE_YOUR_CALM";
    const { type, flags: set, streamId } = received;
    const isPreface = type === frameTypes.settings && (set & flags.ack) === 0;
    const isNext = this.#block === null || (type === frameTypes.continuation && streamId === this.#block.streamId);
    if (!isNext || !(this.#hasSettings || isPreface)) return "PROTOCOL_ERROR";
    const isAboutOurs = streamId !== 0 && type !== frameTypes.priority && type <= frameTypes.continuation;
    return frameFault(received) ?? (isAboutOurs && !this.#deps.isBegun(streamId) ? "PROTOCOL_ERROR" : null);
  }

  #takeData(received: Frame): void {
    this.#received += received.payload.length;
    if (this.#received >= replenishBytes) {
      this.#deps.reply(frame(frameTypes.windowUpdate, 0, 0, uint32(this.#received)));
      this.#received = 0;
    }
    this.#deps.listener.data(received.streamId, contentOf(received), (received.flags & flags.endStream) !== 0);
  }

  #takeFragment(block: Block | null, fragment: Buffer, set: number): void {
    if (block === null) throw new ConnectionError("PROTOCOL_ERROR"); // continues nothing
    block.parts.push(fragment);
    block.bytes += fragment.length;
    if (block.bytes > maxBlockBytes) throw new ConnectionError("ENHANCE_YOUR_CALM");
    if ((set & flags.endHeaders) === 0) return;
    this.#block = null;
    const headers = this.#decode(block.parts.length === 1 ? fragment : Buffer.concat(block.parts));
    if (headers === null) throw new ConnectionError("COMPRESSION_ERROR");
    this.#deps.listener.headers(block.streamId, headers, block.isLast);
  }

  #takeSettings(received: Frame): void {
    if ((received.flags & flags.ack) !== 0) return;
    this.#hasSettings = true;
    const settings = settingsOf(received);
    this.#deps.reply(frame(frameTypes.settings, flags.ack, 0, noBytes));
    this.#deps.listener.settings(settings);
  }

  #takeWindow(streamId: number, bytes: number): void {
    const { listener } = this.#deps;
    if (bytes > 0) listener.widened(streamId, bytes);
    else if (streamId > 0) listener.fault(streamId, "PROTOCOL_ERROR");
    else throw new ConnectionError("PROTOCOL_ERROR");
  }
}

const noBytes = Buffer.alloc(0);

/** The number that a payload begins with, without its reserved bit. */
const number31 = (payload: Buffer): number => payload.readUInt32BE() & 0x7fff_ffff;
