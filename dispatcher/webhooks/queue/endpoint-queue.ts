import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { disableGone } from "../health/disable-gone.ts";
import type { EndpointKey } from "../partitions/endpoints.ts";
import { type Pace, pace } from "../send/pace.ts";
import { type Allowance, allowance } from "./allowance.ts";
import { Backlog } from "./backlog.ts";
import { Endpoint } from "./endpoint.ts";
import type { EndpointQueueDeps } from "./endpoint-queue-deps.ts";
import { type Item, newItem, PendingDeliveries } from "./pending-deliveries.ts";
import { Storing } from "./storing.ts";
import { waitingCallers } from "./waiting-callers.ts";

/** A queue that had nothing to do for so long ends: endpoints with some traffic keep theirs. */
const idleMs = 5_000;

/**
 * The queue of an endpoint that this process owns: sends what it accepts, and what is due in the store. A new delivery is
 * stored once, with its result, unless that takes too long: then it is stored as pending, so that the caller need not
 * wait, and is sent from the store.
 */
export class EndpointQueue {
  readonly key: EndpointKey;
  readonly openedMs: number;
  readonly #deps: EndpointQueueDeps;
  readonly #endpoint: Endpoint;
  readonly #pending: PendingDeliveries;
  readonly #backlog: Backlog;
  readonly #allowance: Allowance;
  readonly #storing: Storing;
  readonly #onEnd: (queue: EndpointQueue) => void;
  readonly #ended = Promise.withResolvers<void>();
  readonly #waiting = waitingCallers({
    nowMs: () => this.#nowMs(),
    free: () => this.free(),
    perSecond: () => this.#allowance.perSecond(),
    isWorthWaiting: () =>
      this.#isServing() && this.#allowance.isWorthWaiting(this.#nowMs(), this.#backlog.behindMs(this.#nowMs())),
  });
  #pace: Pace;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;
  /** It is to end: nothing new is begun. */
  #isReleased = false;
  /** The endpoint answered 410: nothing more is sent until its row is read again. */
  #isGone = false;
  #isRunning = false;
  #failures = 0;

  constructor(deps: EndpointQueueDeps, row: WebhookRow, onEnd: (queue: EndpointQueue) => void) {
    this.#deps = deps;
    this.#onEnd = onEnd;
    this.key = deps.endpoints.keyOf(row);
    this.openedMs = this.#nowMs();
    this.#endpoint = new Endpoint(deps, row);
    this.#pending = new PendingDeliveries(deps.memory);
    this.#backlog = new Backlog(deps, row._id, this.openedMs);
    this.#allowance = allowance(this.#endpoint, this.openedMs);
    this.#storing = new Storing(deps, this.#pending, this.#backlog);
    this.#pace = pace(row.rate_per_second);
  }

  /** Resolves when it has ended: nothing of it is under way or in memory. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get underWay(): number {
    return this.#pending.underWay;
  }

  /** When something is due for the endpoint after the queue has ended, ms; infinite when nothing is, as far as it knows. */
  get dueMs(): number {
    if (this.#endpoint.isLost || this.#endpoint.isResting()) return Number.POSITIVE_INFINITY;
    return this.#backlog.isBehind ? this.#nowMs() : this.#backlog.retryAtMs;
  }

  /** How many new deliveries it would accept now. */
  free(): number {
    if (!this.#isServing() || !this.#backlog.isLevel || this.#endpoint.isRecovering()) return 0;
    return this.#allowance.free() - this.#pending.size;
  }

  /**
   * Waits until new deliveries can be taken; null when they can now, or not soon. To leave deliveries to the store
   * costs three times as much: a queue that is behind would never catch up with those that keep coming.
   */
  whenRoom(count: number): Promise<void> | null {
    return this.#waiting.enter(count, this.#allowance.free());
  }

  /** Whether it has a delivery in memory. */
  has(id: string): boolean {
    return this.#pending.get(id) !== undefined;
  }

  /**
   * Accepts a new delivery; resolves when the store has it, with its result or as pending. One that `isStoredFirst` is
   * pending in the store before it is sent.
   */
  accept(row: WebhookDeliveryRow, isStoredFirst = false): Promise<void> {
    const known = this.#pending.get(row._id);
    if (known !== undefined) return known.storing ?? known.settle.promise;
    const item = newItem(row, this.#nowMs());
    void (isStoredFirst ? this.#storeFirst(item) : this.#add(item));
    return item.settle.promise;
  }

  /** The store may have something new for it. */
  nudge(): void {
    this.#backlog.lookAnew();
    void this.run();
  }

  /** The endpoint's configuration may have changed. */
  refresh(): void {
    this.#endpoint.changed();
    this.nudge();
  }

  /** Finishes what is under way, leaves the rest to the store, and ends. */
  release(): void {
    this.#isReleased = true;
    this.#storing.drain();
    void this.run();
  }

  /** Another process owns the endpoint now: begins nothing more, and ends. */
  lose(): void {
    this.#endpoint.isLost = true;
    void this.run();
  }

  /** To be called every 100 ms or so. */
  tick(): void {
    const now = this.#nowMs();
    this.#storing.storeOlder(now - this.#allowance.limitMs(now));
    this.#backlog.tick(now);
    this.#waiting.admit();
    void this.run();
  }

  /** Does what there is to do, one run at a time. Never rejects: what failed is tried again by the next call. */
  async run(): Promise<void> {
    if (this.#isRunning || this.#hasEnded) return;
    this.#isRunning = true;
    let isMore = false;
    try {
      isMore = await this.#lookAfter();
      this.#failures = 0;
    } catch (err) {
      if (this.#failures++ === 0) this.#deps.log.warn({ err, endpoint: this.key.id }, "webhook.queue_failed");
    }
    this.#isRunning = false;
    this.#waiting.admit();
    if (this.#failures > 0) return; // the next tick tries it again
    if (isMore || this.#endpoint.isStale) setImmediate(() => void this.run());
    else this.#begin();
  }

  /** The endpoint's row, a recovery, what is due in the store, and the end. True when there is more to do at once. */
  async #lookAfter(): Promise<boolean> {
    const { deliveries, clock } = this.#deps;
    const { looks } = this.#backlog;
    if (this.#endpoint.isStale) await this.#reread();
    if (this.#endpoint.isLost) return this.#abandon();
    const isDisabled = this.#endpoint.row.status === "disabled";
    if (this.#isReleased || this.#endpoint.isResting()) this.#storing.drain(); // also what was read meanwhile
    if (isDisabled && (await deliveries.endPage(this.key.id, "endpoint disabled")) > 0) return true;
    const isRecovering = this.#endpoint.isRecovering() && this.#endpoint.mayBegin() && !this.#isReleased;
    if (isRecovering) await this.#recover();
    if (this.#isShort()) await this.#backlog.read(this.#pending, clock.now(), this.#endpoint.isTrusted());
    if (isRecovering || !this.#isIdle()) return isRecovering;
    if (looks !== this.#backlog.looks) return true; // something was stored meanwhile, and nobody looks after the end
    this.#end();
    return false;
  }

  async #reread(): Promise<void> {
    const { rate_per_second: perSecond, status } = this.#endpoint.row;
    await this.#endpoint.reread();
    this.#isGone = false;
    const { row } = this.#endpoint;
    if (row.rate_per_second !== perSecond) this.#pace = pace(row.rate_per_second);
    if (row.status !== status) this.#deps.endpoints.announce(row);
  }

  async #recover(): Promise<void> {
    const { endpoints, deliveries } = this.#deps;
    const { row } = this.#endpoint;
    await endpoints.noteRecovery(row, await deliveries.recover(row));
    await this.#endpoint.reread();
    this.#backlog.grow();
  }

  /** Leaves the endpoint to the process that has taken it over: what is left, and results stored after that process looked. */
  async #abandon(): Promise<boolean> {
    await Promise.all(this.#storing.drain().map(({ settle }) => settle.promise));
    const isLast = this.#pending.size === 0;
    if (this.#backlog.isBehind || isLast) this.#deps.endpoints.notify(this.key);
    this.#backlog.leave();
    if (isLast) this.#end();
    return false;
  }

  #end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#waiting.admit();
    this.#onEnd(this);
    this.#ended.resolve();
  }

  #isIdle(): boolean {
    const isQuiet = this.#allowance.quietMs(this.#nowMs()) >= idleMs && !this.#endpoint.isNoted;
    const isDone = this.#isReleased || (isQuiet && (this.#endpoint.isResting() || this.#backlog.isLevel));
    return isDone && this.#pending.size === 0;
  }

  /** Whether deliveries may be accepted and requests begun. */
  #isServing(): boolean {
    const isWanted = !this.#hasEnded && !this.#isReleased && !this.#isGone;
    return isWanted && !this.#endpoint.isResting() && this.#endpoint.mayBegin();
  }

  /** Whether more of what is due in the store could be sent now. */
  #isShort(): boolean {
    const { max_in_flight: most } = this.#endpoint.row;
    const isOfUse = this.#endpoint.isTrusted() || this.#hasPlace(); // else it would keep memory, and not be sent
    return isOfUse && this.#backlog.isBehind && this.#pending.waiting < most && this.#isServing();
  }

  /** Whether one more request may be under way. */
  #hasPlace(): boolean {
    const isAdmitted = this.#endpoint.isTrusted() || !this.#deps.probes.isFull();
    return isAdmitted && this.#pending.underWay < this.#endpoint.mostUnderWay();
  }

  /** Begins all requests that may begin now: as many at once, and as many a second, as the endpoint admits. */
  #begin(): void {
    while (this.#pending.waiting > 0 && this.#hasPlace() && this.#isServing() && !this.#endpoint.isStale) {
      if (!this.#pending.hasNext()) break; // all that wait are of subjects that are under way
      const waitMs = this.#pace.take(this.#nowMs());
      if (waitMs > 0) return this.#beginIn(waitMs);
      const item = this.#pending.next();
      if (item !== null) void this.#make(item);
    }
    if (this.#isShort()) void this.run();
  }

  #beginIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#begin();
    }, ms);
  }

  /** Makes one request, and notes and stores its result. */
  async #make(item: Item): Promise<void> {
    const { requests, health, clock } = this.#deps;
    const [{ prepared }, beganMs] = [this.#endpoint, this.#nowMs()];
    const endProbe = this.#deps.probes.begin(!this.#endpoint.isTrusted());
    const sent = await requests.send(prepared, item.row);
    const wasFull = endProbe();
    const { status, due_at: dueAt } = sent.result;
    this.#pending.ended(item);
    this.#allowance.ended(this.#nowMs(), { beganMs, waiting: this.#pending.waiting });
    const end = { succeeded: status === "success", died: status === "dead", at: clock.now() };
    if (item.row.event_type !== "webhook.test") this.#endpoint.note(end);
    this.#endpoint.trust.note(sent.result.made);
    const isSilent = sent.result.made.response_status === null; // it may hang, and would keep what was read for it
    if (isSilent && !end.succeeded && this.#pending.dropRead() > 0) this.#backlog.grow();
    if (dueAt !== null) this.#backlog.retryAt(dueAt);
    health.observe(prepared.row, item.row, sent);
    void this.#storing.storeResult(item, sent);
    if (!sent.isGone) return wasFull ? undefined : this.#begin(); // the place is for whoever has its turn
    this.#isGone = true;
    await disableGone(this.#deps, prepared.row);
    this.refresh();
  }

  #add(item: Item): void {
    this.#pending.add(item);
    this.#begin();
  }

  async #storeFirst(item: Item): Promise<void> {
    if (await this.#storing.storeFirst(item)) this.#add(item);
  }

  #nowMs(): number {
    return this.#deps.clock.now().getTime();
  }
}
