import type { Socket } from "node:net";
import type { TransportResult } from "../transport.ts";
import {
  ConnectionError,
  clientPreface,
  type ErrorName,
  errorCodes,
  flags,
  frame,
  frameHeaderLength,
  frameTypes,
  maxFrameLength,
  maxWindow,
  settingIds,
  uint32,
} from "./frames.ts";
import { encodeHeaders, standardTableBytes } from "./hpack.ts";
import { type Incoming, type IncomingListener, incoming } from "./incoming.ts";
import { Outgoing } from "./outgoing.ts";
import { openSocket } from "./socket.ts";

/** What arrives on a connection. */
export type WireListener = Omit<IncomingListener, "settings"> & {
  opened: () => void;
  /** The peer's window is wide enough again for requests. */
  writable: () => void;
  /** The peer's settings have changed; it admits so many streams at once, where it says. */
  settings: (streams: number | null) => void;
  /** The connection is over; nothing follows. */
  closed: (reason: string) => void;
};

export type WireOptions = {
  /** `https://host[:port]`, or `http://` (HTTP/2 with prior knowledge) on loopback. */
  origin: string;
  /** Certificate authority to trust instead of the public ones, PEM. */
  ca?: string;
  /** How the socket is made; `opened` is to be called once HTTP/2 may be spoken. Left out: to the origin, whatever it is. */
  connect?: (url: URL, opened: () => void) => Socket;
};

/** Nothing of it was written. */
export type Unwritten = Extract<TransportResult, { kind: "not_sent" | "impossible" }>;

const firstWindow = 65_535; // RFC 9113 6.9.2
const lastUsableStreamId = 0x7fff_fff0;

/**
 * The client's side of one HTTP/2 connection: frames in and out, flow control, answers to SETTINGS and PING. Requests
 * are one HEADERS and at most one DATA frame, in one write. Source: RFC 9113.
 */
export class Http2Wire {
  readonly #listener: WireListener;
  readonly #socket: Socket;
  readonly #out: Outgoing;
  /** By method. */
  readonly #fixedHeaders: Readonly<Record<"POST" | "DELETE", string>>;
  readonly #incoming: Incoming;
  #hasSettings = false;
  #nextStreamId = 1;
  #flushedStreamId = 0;
  #window = firstWindow;
  #streamWindow = firstWindow;
  #tableBytes = standardTableBytes;
  #tableUpdate = "";
  #reason = "the connection was closed";

  constructor({ origin, ca, connect }: WireOptions, listener: WireListener) {
    const url = new URL(origin);
    this.#listener = listener;
    const where = { ":scheme": url.protocol.slice(0, -1), ":authority": url.host };
    this.#fixedHeaders = {
      POST: encodeHeaders({ ":method": "POST", ...where }),
      DELETE: encodeHeaders({ ":method": "DELETE", ...where }),
    };
    const opened = (): void => this.#opened();
    this.#socket = connect === undefined ? openSocket(url, ca, opened) : connect(url, opened);
    this.#out = new Outgoing(this.#socket, {
      flushed: () => {
        this.#flushedStreamId = this.#nextStreamId - 2;
      },
      stoodStill: () => this.#takeBack(),
    });
    this.#incoming = incoming({
      listener: {
        ...listener,
        settings: (settings) => this.#takeSettings(settings),
        widened: (streamId, bytes) => (streamId === 0 ? this.#widen(bytes) : listener.widened(streamId, bytes)),
      },
      reply: (bytes) => this.#out.write(bytes),
      isBegun: (streamId) => streamId % 2 === 1 && this.wasWritten(streamId),
    });
    this.#socket
      .setNoDelay(true)
      .on("data", (chunk) => this.#read(chunk))
      .on("error", (error: Error & { code?: string }) => {
        this.#reason = error.code ?? error.message; // "close" follows
      })
      .on("close", () => listener.closed(this.#reason));
  }

  /** Whether a request of the usual size can be written now; also false once stream ids are used up. */
  get hasRoom(): boolean {
    return this.#window >= maxFrameLength && this.#nextStreamId < lastUsableStreamId;
  }

  /** How much of a new stream the peer takes before it says more. */
  get streamWindow(): number {
    return this.#streamWindow;
  }

  /** Whether any byte of this stream was handed to the network. */
  wasWritten(streamId: number): boolean {
    return streamId <= this.#flushedStreamId;
  }

  /** Writes a request and returns its stream, or says why it cannot. */
  request(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string | Buffer,
    method: "POST" | "DELETE" = "POST",
  ): number | Unwritten {
    const fault = faultOf(path, headers);
    if (fault !== null) return { kind: "impossible", code: "PROVIDER_REJECTED", reason: fault };
    const block =
      this.#tableUpdate + this.#fixedHeaders[method] + encodeHeaders({ ":path": path }) + encodeHeaders(headers);
    const bodyLength = Buffer.byteLength(body);
    if (Math.max(block.length, bodyLength) > maxFrameLength) return tooLarge;
    if (bodyLength > this.#streamWindow)
      return { kind: "not_sent", reason: "the provider takes no request so large now" };
    const streamId = this.#nextStreamId;
    this.#out.begin(2 * frameHeaderLength + block.length + bodyLength);
    this.#nextStreamId += 2;
    this.#tableUpdate = "";
    this.#window -= bodyLength;
    const ends = bodyLength === 0 ? flags.endStream : 0;
    this.#out.header({ length: block.length, type: frameTypes.headers, flags: flags.endHeaders | ends, streamId });
    this.#out.append(block, "latin1");
    if (bodyLength === 0) return streamId;
    this.#out.header({ length: bodyLength, type: frameTypes.data, flags: flags.endStream, streamId });
    this.#out.append(body);
    return streamId;
  }

  reset(streamId: number, error: ErrorName): void {
    this.#out.write(frame(frameTypes.resetStream, 0, streamId, uint32(errorCodes[error])));
  }

  /** To be called when a request has ended: a peer that sends frame after frame and ends no request is cut off. */
  progressed(): void {
    this.#incoming.progressed();
  }

  ping(): void {
    this.#out.write(frame(frameTypes.ping, 0, 0, Buffer.alloc(8)));
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

  #read(chunk: Buffer): void {
    try {
      this.#incoming.read(chunk);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A peer that breaks the protocol ends the connection, not the process. Source: RFC 9113 5.4.1. */
  #fail(error: unknown): void {
    if (this.#socket.destroyed) return;
    const code = error instanceof ConnectionError ? error.code : "INTERNAL_ERROR";
    const payload = Buffer.concat([uint32(0), uint32(errorCodes[code])]); // of the peer's streams there are none
    this.#socket.write(frame(frameTypes.goaway, 0, 0, payload));
    this.destroy(error instanceof Error ? error.message : code);
  }

  #widen(bytes: number): void {
    const hadRoom = this.hasRoom;
    this.#window += bytes;
    if (this.#window > maxWindow) throw new ConnectionError("FLOW_CONTROL_ERROR");
    if (!hadRoom && this.hasRoom) this.#listener.writable();
  }

  #takeSettings(settings: ReadonlyMap<number, number>): void {
    this.#streamWindow = settings.get(settingIds.initialWindowSize) ?? this.#streamWindow;
    const tableBytes = settings.get(settingIds.headerTableSize) ?? this.#tableBytes;
    if (tableBytes < this.#tableBytes) this.#tableUpdate = noTable;
    this.#tableBytes = tableBytes;
    const most = settings.get(settingIds.maxConcurrentStreams);
    this.#listener.settings(most ?? (this.#hasSettings ? null : Number.POSITIVE_INFINITY));
    this.#hasSettings = true;
  }

  /** What was taken back is asked for again elsewhere; this connection ends once what was sent before is answered. */
  #takeBack(): void {
    this.#listener.goaway(this.#flushedStreamId, errorCodes.NO_ERROR, "this process stood still");
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

/**
 * "Dynamic table size update" to 0: has to begin the first headers after the peer made its table smaller, although none of
 * ours refer to it. Source: RFC 9113 4.3.1, RFC 7541 4.2.
 */
const noTable = "\x20";
