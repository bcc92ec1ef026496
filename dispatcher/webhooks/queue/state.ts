import type { EndpointLease } from "./endpoint-lease.ts";

/** Where an endpoint queue is between its opening and its end: decides whether it may accept deliveries and begin requests. */
export class QueueState {
  readonly #lease: Pick<EndpointLease, "isResting" | "mayBegin">;
  phase: "open" | "closing" | "closed" = "open";
  /** This process is to give the endpoint back: nothing new is begun. */
  isReleased = false;
  /** The endpoint answered 410: nothing more is sent until its row is read again. */
  isGone = false;
  readonly closed = Promise.withResolvers<void>();

  constructor(lease: Pick<EndpointLease, "isResting" | "mayBegin">) {
    this.#lease = lease;
  }

  /** Whether deliveries may be accepted and requests begun. */
  isServing(): boolean {
    const isWanted = this.phase === "open" && !this.isReleased && !this.isGone;
    return isWanted && !this.#lease.isResting() && this.#lease.mayBegin();
  }

  end(): void {
    this.phase = "closed";
    this.closed.resolve();
  }
}
