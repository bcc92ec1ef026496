import { disableGone } from "../health/disable-gone.ts";
import { type Pace, pace } from "../send/pace.ts";
import { isShort, type QueueParts } from "./deps.ts";
import type { Item } from "./pending-deliveries.ts";
import type { Storing } from "./storing.ts";

/** Makes the requests of an endpoint queue: as many at once, and as many a second, as the endpoint admits. */
export class Sending {
  readonly #parts: QueueParts;
  readonly #storing: Storing;
  readonly #on: { short: () => void; gone: () => void };
  #pace: Pace;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: QueueParts, storing: Storing, on: { short: () => void; gone: () => void }) {
    this.#parts = parts;
    this.#storing = storing;
    this.#on = on;
    this.#pace = pace(parts.endpoint.row.rate_per_second);
  }

  /** Begins all requests that may begin now. */
  begin(): void {
    const { state, pending, endpoint, nowMs } = this.#parts;
    while (state.isServing() && pending.waiting > 0 && pending.underWay < endpoint.row.max_in_flight) {
      if (!pending.hasNext()) break; // all that wait are of subjects that are under way
      const waitMs = this.#pace.take(nowMs());
      if (waitMs > 0) return this.#beginIn(waitMs);
      const item = pending.next();
      if (item !== null) void this.#make(item);
    }
    if (isShort(this.#parts)) this.#on.short();
  }

  /** The endpoint admits another number of requests a second. */
  changePace(perSecond: number | null): void {
    this.#pace = pace(perSecond);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #beginIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.begin();
    }, ms);
  }

  /** Makes one request, and notes and stores its result. */
  async #make(item: Item): Promise<void> {
    const { deps, endpoint, state, pending, backlog, allowance, nowMs } = this.#parts;
    const { prepared } = endpoint;
    const beganMs = nowMs();
    const sent = await deps.requests.send(prepared, item.row);
    const { status, due_at: dueAt } = sent.result;
    pending.ended(item);
    allowance.ended(nowMs(), { beganMs, waiting: pending.waiting });
    const end = { succeeded: status === "success", died: status === "dead", at: deps.clock.now() };
    if (item.row.event_type !== "webhook.test") endpoint.note(end);
    if (dueAt !== null) backlog.retryAt(dueAt);
    deps.health.observe(prepared.row, item.row, sent);
    void this.#storing.storeResult(item, sent);
    if (!sent.isGone) return this.begin();
    state.isGone = true;
    await disableGone(deps, prepared.row);
    this.#on.gone();
  }
}
