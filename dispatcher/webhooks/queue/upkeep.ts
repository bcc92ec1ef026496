import { isShort, type QueueParts } from "./deps.ts";
import type { Sending } from "./sending.ts";
import type { Storing } from "./storing.ts";

/** A queue that had nothing to do for so long ends: endpoints with some traffic keep theirs. */
const idleMs = 5_000;

export type UpkeepDeps = QueueParts & {
  storing: Storing;
  sending: Sending;
  /** Lets callers in that wait for room. */
  admit: () => void;
  /** The queue has ended; it is called once. */
  onEnd: () => void;
};

/** Looks after all of an endpoint queue but its requests: a recovery, what is due in the store, and the end. */
export class Upkeep {
  readonly #parts: UpkeepDeps;
  #isRunning = false;
  #failures = 0;

  constructor(parts: UpkeepDeps) {
    this.#parts = parts;
  }

  /** Does what there is to do, one run at a time. Never rejects: what failed is tried again by the next call. */
  async run(): Promise<void> {
    const { deps, state, endpoint, sending, admit } = this.#parts;
    if (this.#isRunning || state.hasEnded) return;
    this.#isRunning = true;
    let isMore = false;
    try {
      isMore = await this.#runOnce();
      this.#failures = 0;
    } catch (err) {
      if (this.#failures++ === 0) deps.log.warn({ err, endpoint: endpoint.row._id }, "webhook.queue_failed");
    }
    this.#isRunning = false;
    admit();
    if (isMore) setImmediate(() => void this.run());
    else if (this.#failures === 0) sending.begin();
  }

  /** True when there is more to do at once. */
  async #runOnce(): Promise<boolean> {
    const { deps, endpoint, state, storing, backlog, pending } = this.#parts;
    if (endpoint.isStale) await this.#reread();
    if (endpoint.isLost) return this.#abandon();
    const { _id, status } = endpoint.row;
    if (state.isReleased || endpoint.isResting()) storing.drain(); // also what was read meanwhile
    if (status === "disabled" && (await deps.deliveries.endPage(_id, "endpoint disabled")) > 0) return true;
    const isRecovering = endpoint.isRecovering() && endpoint.mayBegin() && !state.isReleased;
    if (isRecovering) await this.#recover();
    if (isShort(this.#parts)) await backlog.read(pending, deps.clock.now());
    if (this.#isIdle() && !isRecovering) this.#end();
    return isRecovering;
  }

  async #reread(): Promise<void> {
    const { deps, endpoint, state, sending } = this.#parts;
    const { rate_per_second: perSecond, status } = endpoint.row;
    await endpoint.reread();
    state.isGone = false;
    const { row } = endpoint;
    if (row.rate_per_second !== perSecond) sending.changePace(row.rate_per_second);
    if (row.status !== status) deps.endpoints.announce(row);
  }

  async #recover(): Promise<void> {
    const { deps, endpoint, backlog } = this.#parts;
    const { row } = endpoint;
    await deps.endpoints.noteRecovery(row, await deps.deliveries.recover(row));
    await endpoint.reread();
    backlog.grow();
  }

  #isIdle(): boolean {
    const { state, endpoint, pending, allowance, backlog, nowMs } = this.#parts;
    if (pending.size > 0) return false;
    if (state.isReleased) return true;
    const isQuiet = allowance.quietMs(nowMs()) >= idleMs && !endpoint.isNoted;
    return isQuiet && (endpoint.isResting() || backlog.isLevel);
  }

  /** Leaves the endpoint to the process that has taken it over: what is left, and results stored after that process looked. */
  async #abandon(): Promise<boolean> {
    const { deps, endpoint, storing, pending, backlog } = this.#parts;
    await Promise.all(storing.drain().map(({ settle }) => settle.promise));
    const isLast = pending.size === 0;
    if (backlog.isBehind || isLast) deps.endpoints.notify(endpoint.row._id);
    backlog.leave();
    if (isLast) this.#end();
    return false;
  }

  #end(): void {
    const { state, sending, admit, onEnd } = this.#parts;
    state.hasEnded = true;
    sending.stop();
    admit();
    onEnd();
  }
}
