import { isShort, type QueueParts } from "./deps.ts";
import type { Sending } from "./sending.ts";
import type { Storing } from "./storing.ts";

/** An idle queue is given back after so long: endpoints with some traffic stay. */
const idleMs = 2_000;

export type UpkeepDeps = QueueParts & {
  storing: Storing;
  sending: Sending;
  /** Lets callers in that wait for room. */
  admit: () => void;
};

/** Looks after all of an endpoint queue but its requests: the lease, a recovery, what is due in the store, and the end. */
export class Upkeep {
  readonly #parts: UpkeepDeps;
  #isRunning = false;
  #failures = 0;

  constructor(parts: UpkeepDeps) {
    this.#parts = parts;
  }

  /** Does what there is to do, one run at a time. Never rejects: what failed is tried again by the next call. */
  async run(): Promise<void> {
    const { deps, state, lease, sending, admit } = this.#parts;
    if (this.#isRunning || state.phase === "closed") return;
    this.#isRunning = true;
    let isMore = false;
    try {
      isMore = await this.#runOnce();
      this.#failures = 0;
    } catch (err) {
      if (this.#failures++ === 0) deps.log.warn({ err, endpoint: lease.row._id }, "webhook.queue_failed");
    }
    this.#isRunning = false;
    admit();
    if (isMore) setImmediate(() => void this.run());
    else if (this.#failures === 0) sending.begin();
  }

  /** True when there is more to do at once. */
  async #runOnce(): Promise<boolean> {
    const { deps, lease, state, storing, backlog, pending } = this.#parts;
    if (lease.mustRenew()) await this.#renew();
    if (lease.isLost) return this.#abandon();
    const { row } = lease;
    const isDisabled = row.status === "disabled";
    if (state.isReleased || lease.isResting()) storing.drain(); // also what was read meanwhile
    if (isDisabled && (await deps.deliveries.endPage(row._id, "endpoint disabled")) > 0) return true;
    const isRecovering = lease.isRecovering() && !isDisabled && !state.isReleased;
    if (isRecovering) await this.#recover();
    if (isShort(this.#parts)) await backlog.read(pending, deps.clock.now());
    if (this.#isIdle() && !isRecovering) await this.#close();
    return isRecovering;
  }

  async #renew(): Promise<void> {
    const { deps, lease, state, sending, backlog } = this.#parts;
    const before = await lease.renew();
    state.isGone = false;
    const { row } = lease;
    if (row.rate_per_second !== before.rate_per_second) sending.changePace(row.rate_per_second);
    if (row.due_changes !== before.due_changes) backlog.lookAnew();
    if (row.status !== before.status) deps.endpoints.announce(row);
  }

  async #recover(): Promise<void> {
    const { deps, lease, backlog } = this.#parts;
    await lease.renew({ recovery: await deps.deliveries.recover(lease.row) });
    backlog.grow();
  }

  #isIdle(): boolean {
    const { state, pending, allowance, backlog, nowMs } = this.#parts;
    if (pending.size > 0) return false;
    const isQuiet = allowance.quietMs(nowMs()) >= idleMs;
    return state.isReleased || (isQuiet && !(backlog.isBehind && state.isServing()));
  }

  /** Gives the endpoint back until its next delivery is due; keeps it when that is now, or when it became due meanwhile. */
  async #close(): Promise<void> {
    const { lease, state, backlog, nowMs } = this.#parts;
    state.phase = "closing";
    try {
      const nextAt = await this.#nextAt();
      const isDue = nextAt !== null && nextAt.getTime() <= nowMs() && !lease.isResting();
      if ((state.isReleased || !isDue) && (await lease.settle(nextAt))) return this.#end();
      await this.#renew();
      backlog.lookAnew();
    } finally {
      if (state.phase === "closing") state.phase = "open";
    }
  }

  /** When a dispatcher has to look at the endpoint again; null when not before it is made due. */
  async #nextAt(): Promise<Date | null> {
    const { deps, lease } = this.#parts;
    const { _id, paused, status } = lease.row;
    if (paused || status === "disabled") return null;
    return lease.isRecovering() ? deps.clock.now() : deps.deliveries.nextDueAt(_id);
  }

  /** Leaves the endpoint to the process that has taken it over: what is left, and results stored after that process looked. */
  async #abandon(): Promise<boolean> {
    const { deps, lease, storing, pending, backlog } = this.#parts;
    await Promise.all(storing.drain().map(({ settle }) => settle.promise));
    const isLast = pending.size === 0;
    if (backlog.isBehind || isLast) await deps.endpoints.makeDueAndHint(lease.row._id);
    backlog.leave();
    if (isLast) this.#end();
    return false;
  }

  #end(): void {
    const { state, sending, admit } = this.#parts;
    state.end();
    sending.stop();
    admit();
  }
}
