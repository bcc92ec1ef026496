import type { Socket } from "node:net";
import { type FrameHeader, writeFrameHeader } from "./frames.ts";

export type OutgoingListener = {
  /** All that was written so far was handed to the network. */
  flushed: () => void;
  /** This process stood still: the requests that were written since the last flush were thrown away. */
  stoodStill: () => void;
};

const bufferLength = 65_536;
const standstillMs = 1_000; // between writing a request and handing it to the network: one turn of the event loop

/** What is to be sent on a connection, gathered in one buffer until all that is ready now has been written. */
export class Outgoing {
  readonly #socket: Socket;
  readonly #listener: OutgoingListener;
  #buffer = Buffer.allocUnsafe(0);
  #used = 0;
  /** Where the requests of this buffer begin; what the peer is owed comes before, or between them. */
  #requestsAt = Number.POSITIVE_INFINITY;
  #isFlushing = false;
  #flushAskedAtMs = 0;

  constructor(socket: Socket, listener: OutgoingListener) {
    this.#socket = socket;
    this.#listener = listener;
  }

  /** Writes what the peer is owed. */
  write(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.append(bytes);
  }

  /** Makes room for a request of so many bytes, which are to be written at once. */
  begin(length: number): void {
    this.#reserve(length);
    this.#requestsAt = Math.min(this.#requestsAt, this.#used);
  }

  header(header: FrameHeader): void {
    this.#used = writeFrameHeader(this.#buffer, this.#used, header);
  }

  append(what: string | Buffer, encoding: "latin1" | "utf8" = "utf8"): void {
    this.#used +=
      typeof what === "string" ? this.#buffer.write(what, this.#used, encoding) : what.copy(this.#buffer, this.#used);
  }

  #reserve(length: number): void {
    if (this.#used + length > this.#buffer.length) {
      this.#flush();
      this.#buffer = Buffer.allocUnsafe(bufferLength);
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
    if (this.#socket.destroyed) this.#used = 0; // nothing of it is sent: its "close" is about to say so
    if (this.#used === 0) return;
    const hasStoodStill = this.#requestsAt < this.#used && performance.now() - this.#flushAskedAtMs > standstillMs;
    if (hasStoodStill) this.#used = this.#requestsAt; // the requests may be somebody else's by now
    this.#socket.write(this.#buffer.subarray(0, this.#used));
    this.#buffer = this.#buffer.subarray(this.#used);
    this.#used = 0;
    this.#requestsAt = Number.POSITIVE_INFINITY;
    if (hasStoodStill) this.#listener.stoodStill();
    else this.#listener.flushed();
  }
}
