import type { Endpoint } from "./endpoint.ts";

/** Where an endpoint queue is between its opening and its end: decides whether it may accept deliveries and begin requests. */
export class QueueState {
  readonly #endpoint: Pick<Endpoint, "isResting" | "mayBegin">;
  hasEnded = false;
  /** It is to end: nothing new is begun. */
  isReleased = false;
  /** The endpoint answered 410: nothing more is sent until its row is read again. */
  isGone = false;

  constructor(endpoint: Pick<Endpoint, "isResting" | "mayBegin">) {
    this.#endpoint = endpoint;
  }

  /** Whether deliveries may be accepted and requests begun. */
  isServing(): boolean {
    const isWanted = !this.hasEnded && !this.isReleased && !this.isGone;
    return isWanted && !this.#endpoint.isResting() && this.#endpoint.mayBegin();
  }
}
