import type { EndpointLease } from "./endpoint-lease.ts";

/** Where an endpoint queue is between its opening and its end: decides whether it may accept deliveries and begin requests. */
export class QueueState {
  readonly #lease: Pick<EndpointLease, "isResting" | "mayBegin">;
  #phase: "open" | "closing" | "closed" = "open";
  /** This process is to give the endpoint back: nothing new is begun. */
  isReleased = false;
  /** The endpoint answered 410: nothing more is sent until its row is read again. */
  isGone = false;
  /** Resolves when the queue has ended. */
  readonly closed = Promise.withResolvers<void>();

  constructor(lease: Pick<EndpointLease, "isResting" | "mayBegin">) {
    this.#lease = lease;
  }

  get isOpen(): boolean {
    return this.#phase === "open";
  }

  get isClosed(): boolean {
    return this.#phase === "closed";
  }

  /** Whether deliveries may be accepted and requests begun. */
  isServing(): boolean {
    const isWanted = this.isOpen && !this.isReleased && !this.isGone;
    return isWanted && !this.#lease.isResting() && this.#lease.mayBegin();
  }

  /** Accepts and begins nothing during an attempt to end the queue; it is open again unless it has ended. */
  async whileClosing(attempt: () => Promise<void>): Promise<void> {
    this.#phase = "closing";
    try {
      await attempt();
    } finally {
      if (!this.isClosed) this.#phase = "open";
    }
  }

  end(): void {
    this.#phase = "closed";
    this.closed.resolve();
  }
}
