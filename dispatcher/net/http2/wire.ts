import type { Socket } from "node:net";
import type { TransportResult } from "../transport.ts";
import {
  clientPreface,
  contentOf,
  errorCodes,
  type Frame,
  flags,
  frame,
  frameHeaderLength,
  frameReader,
  frameTypes,
  maxFrameLength,
  settingIds,
  settingsOf,
  uint32,
  writeFrameHeader,
} from "./frames.ts";
import { encodeHeaders, headerDecoder } from "./hpack.ts";
import { openSocket } from "./socket.ts";

/** What arrives on a connection. */
export type WireListener = {
  opened: () => void;
  /** The peer's window is wide enough again for requests. */
  writable: () => void;
  /** The peer admits so many streams at once. */
  streams: (most: number) => void;
  headers: (streamId: number, headers: Record<string, string>, isLast: boolean) => void;
  data: (streamId: number, bytes: Buffer, isLast: boolean) => void;
  reset: (streamId: number, code: number) => void;
  /** The peer takes no streams above `lastStreamId`; `words` is what it added for people. */
  goaway: (lastStreamId: number, code: number, words: string) => void;
  pong: () => void;
  /** The connection is over; nothing follows. */
  closed: (reason: string) => void;
};

export type WireOptions = { origin: string; ca?: string };

/** Nothing of it was written. */
export type Unwritten = Extract<TransportResult, { kind: "not_sent" | "impossible" }>;

const firstWindow = 65_535; // RFC 9113 6.9.2
const outLength = 65_536;
const lastUsableStreamId = 0x7fff_fff0;
const standstillMs = 1_000; // between writing a request and handing it to the network: one turn of the event loop

/**
 * The client's side of one HTTP/2 connection: frames in and out, flow control, answers to SETTINGS and PING. Requests
 * are one HEADERS and at most one DATA frame, in one write. Source: RFC 9113.
 */
export class Http2Wire {
  readonly #listener: WireListener;
  readonly #socket: Socket;
  readonly #fixedHeaders: string;
  readonly #decode = headerDecoder();
  #out = Buffer.allocUnsafe(0);
  #outUsed = 0;
  #isFlushing = false;
  #flushAskedAtMs = 0;
  #hasSettings = false;
  #nextStreamId = 1;
  #flushedStreamId = 0;
  #window = firstWindow;
  #streamWindow = firstWindow;
  #unacknowledged = 0;
  #block: { streamId: number; isLast: boolean; parts: Buffer[] } | null = null;
  #reason = "the connection was closed";

  constructor({ origin, ca }: WireOptions, listener: WireListener) {
    const url = new URL(origin);
    this.#listener = listener;
    this.#fixedHeaders = encodeHeaders({
      ":method": "POST",
      ":scheme": url.protocol.slice(0, -1),
      ":authority": url.host,
    });
    this.#socket = openSocket(url, ca, () => this.#opened());
    this.#socket
      .setNoDelay(true)
      .on(
        "data",
        guarded(
          this,
          frameReader((received) => this.#take(received)),
        ),
      )
      .on("error", (error: Error & { code?: string }) => {
        this.#reason = error.code ?? error.message; // "close" follows
      })
      .on("close", () => listener.closed(this.#reason));
  }

  /** Whether a request of the usual size can be written now; also false once stream ids are used up. */
  get hasRoom(): boolean {
    return this.#window >= maxFrameLength && this.#nextStreamId < lastUsableStreamId;
  }

  /** Whether any byte of this stream was handed to the network. */
  wasWritten(streamId: number): boolean {
    return streamId <= this.#flushedStreamId;
  }

  /** Writes a POST and returns its stream, or says why it cannot. */
  request(path: string, headers: Readonly<Record<string, string>>, body: string | Buffer): number | Unwritten {
    const fault = faultOf(path, headers);
    if (fault !== null) return { kind: "impossible", code: "PROVIDER_REJECTED", reason: fault };
    const block = this.#fixedHeaders + encodeHeaders({ ":path": path }) + encodeHeaders(headers);
    const bodyLength = Buffer.byteLength(body);
    if (Math.max(block.length, bodyLength) > maxFrameLength) return tooLarge;
    if (bodyLength > this.#streamWindow)
      return { kind: "not_sent", reason: "the provider takes no request so large now" };
    const streamId = this.#nextStreamId;
    this.#reserve(2 * frameHeaderLength + block.length + bodyLength);
    this.#nextStreamId += 2;
    this.#window -= bodyLength;
    const ends = bodyLength === 0 ? flags.endStream : 0;
    this.#writeHeader({ length: block.length, type: frameTypes.headers, flags: flags.endHeaders | ends, streamId });
    this.#outUsed += this.#out.write(block, this.#outUsed, "latin1");
    if (bodyLength === 0) return streamId;
    this.#writeHeader({ length: bodyLength, type: frameTypes.data, flags: flags.endStream, streamId });
    this.#outUsed +=
      typeof body === "string" ? this.#out.write(body, this.#outUsed) : body.copy(this.#out, this.#outUsed);
    return streamId;
  }

  cancel(streamId: number): void {
    this.#write(frame(frameTypes.resetStream, 0, streamId, uint32(errorCodes.cancel)));
  }

  ping(): void {
    this.#write(frame(frameTypes.ping, 0, 0, Buffer.alloc(8)));
  }

  /** Ends the connection at once. */
  destroy(reason: string): void {
    if (this.#socket.destroyed) return;
    this.#reason = reason;
    this.#socket.destroy();
  }

  #opened(): void {
    this.#socket.write(clientPreface());
    this.#listener.opened();
  }

  #take(received: Frame): void {
    const { type, streamId, payload } = received;
    if (this.#block !== null && type !== frameTypes.continuation) throw new Error("PROTOCOL_ERROR");
    switch (type) {
      case frameTypes.data:
        return this.#takeData(received);
      case frameTypes.headers:
        this.#block = { streamId, isLast: (received.flags & flags.endStream) !== 0, parts: [contentOf(received)] };
        return this.#endBlock(received.flags);
      case frameTypes.continuation:
        this.#block?.parts.push(payload);
        return this.#endBlock(received.flags);
      case frameTypes.resetStream:
        return this.#listener.reset(streamId, payload.readUInt32BE());
      case frameTypes.settings:
        return this.#takeSettings(received);
      case frameTypes.ping:
        if ((received.flags & flags.ack) !== 0) return this.#listener.pong();
        return this.#write(frame(frameTypes.ping, flags.ack, 0, payload));
      case frameTypes.goaway: {
        const words = payload.toString("utf8", 8, 208);
        return this.#listener.goaway(payload.readUInt32BE() & 0x7fffffff, payload.readUInt32BE(4), words);
      }
      case frameTypes.windowUpdate:
        if (streamId === 0) this.#widen(payload.readUInt32BE() & 0x7fffffff);
        return;
      case frameTypes.pushPromise:
        throw new Error("PROTOCOL_ERROR"); // was forbidden by our settings
    }
  }

  #takeData(received: Frame): void {
    this.#unacknowledged += received.payload.length;
    if (this.#unacknowledged > firstWindow / 2) {
      this.#write(frame(frameTypes.windowUpdate, 0, 0, uint32(this.#unacknowledged)));
      this.#unacknowledged = 0;
    }
    this.#listener.data(received.streamId, contentOf(received), (received.flags & flags.endStream) !== 0);
  }

  #endBlock(set: number): void {
    const block = this.#block;
    if (block === null || block.parts.length > maxContinuations) throw new Error("PROTOCOL_ERROR");
    if ((set & flags.endHeaders) === 0) return;
    this.#block = null;
    const headers = this.#decode(block.parts.length === 1 ? (block.parts[0] ?? noBytes) : Buffer.concat(block.parts));
    if (headers === null) throw new Error("COMPRESSION_ERROR");
    this.#listener.headers(block.streamId, headers, block.isLast);
  }

  #widen(increment: number): void {
    const hadRoom = this.hasRoom;
    this.#window += increment;
    if (!hadRoom && this.hasRoom) this.#listener.writable();
  }

  #takeSettings(received: Frame): void {
    if ((received.flags & flags.ack) !== 0) return;
    const settings = settingsOf(received);
    this.#streamWindow = settings.get(settingIds.initialWindowSize) ?? this.#streamWindow;
    this.#write(frame(frameTypes.settings, flags.ack, 0, noBytes));
    const most = settings.get(settingIds.maxConcurrentStreams);
    if (most !== undefined) this.#listener.streams(most);
    else if (!this.#hasSettings) this.#listener.streams(Number.POSITIVE_INFINITY);
    this.#hasSettings = true;
  }

  #write(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#outUsed += bytes.copy(this.#out, this.#outUsed);
  }

  #writeHeader(header: Parameters<typeof writeFrameHeader>[2]): void {
    this.#outUsed = writeFrameHeader(this.#out, this.#outUsed, header);
  }

  /** Makes room in the buffer that is handed to the network once all that is ready now has been written. */
  #reserve(length: number): void {
    if (this.#outUsed + length > this.#out.length) {
      this.#flush();
      this.#out = Buffer.allocUnsafe(outLength);
    }
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#flushAskedAtMs = performance.now();
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#outUsed === 0 || this.#socket.destroyed) return;
    if (performance.now() - this.#flushAskedAtMs > standstillMs) return this.#takeBack();
    this.#socket.write(this.#out.subarray(0, this.#outUsed));
    this.#out = this.#out.subarray(this.#outUsed);
    this.#outUsed = 0;
    this.#flushedStreamId = this.#nextStreamId - 2;
  }

  /**
   * This process stood still: what it was about to send may be somebody else's by now. It is taken back, to be asked for
   * again, and the connection ends once what was sent before is answered.
   */
  #takeBack(): void {
    this.#outUsed = 0;
    this.#listener.goaway(this.#flushedStreamId, errorCodes.none, "this process stood still");
  }
}

/** What a value, and a path, may be made of. Source: RFC 9110 5.5 (ASCII of it), RFC 9113 8.2.1, RFC 3986 2. */
const sendableValue = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;
const sendablePath = /^[!-~]+$/;

/** What of a request no header may carry; without the value, which may be a secret. */
const faultOf = (path: string, headers: Readonly<Record<string, string>>): string | null => {
  if (!sendablePath.test(path)) return "the path has characters that cannot be sent";
  for (const name in headers)
    if (!sendableValue.test(headers[name] ?? "")) return `the header ${name} has characters that cannot be sent`;
  return null;
};

const tooLarge: Unwritten = {
  kind: "impossible",
  code: "PAYLOAD_TOO_LARGE",
  reason: `the request is larger than ${maxFrameLength} bytes`,
};

const noBytes = Buffer.alloc(0);
const maxContinuations = 4; // 64 KiB of headers; CVE-2024-27316 is a peer that never ends them

/** A peer that breaks the protocol ends the connection, not the process. */
const guarded =
  (wire: Http2Wire, read: (chunk: Buffer) => void) =>
  (chunk: Buffer): void => {
    try {
      read(chunk);
    } catch (error) {
      wire.destroy(error instanceof Error ? error.message : "PROTOCOL_ERROR");
    }
  };
