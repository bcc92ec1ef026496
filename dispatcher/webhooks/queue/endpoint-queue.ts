import { healthAfter } from "#core/domain/webhooks/health.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { HeldWebhook } from "#core/storage/webhooks/webhooks.ts";
import { disableGone } from "../health/disable-gone.ts";
import { type Allowance, allowance } from "./allowance.ts";
import { Backlog } from "./backlog.ts";
import type { EndpointQueueDeps } from "./deps.ts";
import { EndpointLease } from "./endpoint-lease.ts";
import { type Pace, pace } from "./pace.ts";
import { freshItem, type Item, PendingDeliveries } from "./pending-deliveries.ts";
import { storeOutcome, storeWaiting } from "./store-item.ts";
import { waitingRoom } from "./waiting-room.ts";

/** An idle queue is given back after so long: endpoints with some traffic stay. */
const idleMs = 2_000;

/**
 * An endpoint under the lease of this process: sends what it is given, and what is due in the store. What comes
 * fresh is stored once, with its outcome, unless that takes too long: then it is stored as waiting, so that the caller
 * need not wait, and is sent from there.
 */
export class EndpointQueue {
  readonly tenantId: string;
  readonly #deps: EndpointQueueDeps;
  readonly #pending: PendingDeliveries;
  readonly #lease: EndpointLease;
  #pace: Pace;
  #state: "open" | "closing" | "closed" = "open";
  #letsGo = false;
  /** It answered 410: nothing more is sent until it is read again. */
  #isGone = false;
  readonly #backlog: Backlog;
  readonly #allowance: Allowance;
  readonly #waiting = waitingRoom({
    nowMs: () => this.#nowMs(),
    room: () => this.room(),
    perSecond: () => this.#allowance.perSecond(),
    isWorthWaiting: () =>
      this.#isServing() && this.#allowance.isWorthWaiting(this.#nowMs(), this.#backlog.behindMs(this.#nowMs())),
  });
  #isAttending = false;
  #failures = 0;
  #paceTimer: NodeJS.Timeout | undefined;
  readonly closed = Promise.withResolvers<void>();

  constructor(deps: EndpointQueueDeps, held: HeldWebhook) {
    this.#deps = deps;
    this.#pending = new PendingDeliveries(deps.memory);
    this.tenantId = held.row.tenant_id;
    this.#lease = new EndpointLease(deps, held);
    this.#pace = pace(held.row.rate_per_second);
    this.#allowance = allowance(this.#lease, this.#nowMs());
    this.#backlog = new Backlog(deps, held.row._id, this.#nowMs());
  }

  get underWay(): number {
    return this.#pending.underWay;
  }

  /** How many fresh deliveries it would take now. */
  room(): number {
    if (!this.#isServing() || !this.#backlog.isLevel || this.#lease.isRecovering()) return 0;
    return this.#allowance.room() - this.#pending.size;
  }

  /**
   * Waits for room for fresh deliveries, when it will come soon: to leave them to the store costs three times as much, so
   * that an endpoint queue which fell behind would never catch up with those that keep coming.
   */
  whenRoom(count: number): Promise<void> | null {
    return this.#waiting.enter(count, this.#allowance.room());
  }

  /** Whether it has a delivery in memory. */
  has(id: string): boolean {
    return this.#pending.get(id) !== undefined;
  }

  /**
   * Takes a fresh delivery; settles when the store has it, with its outcome or as waiting. One that is to be stored first
   * is always waiting there before it is sent.
   */
  accept(row: WebhookDeliveryRow, isStoredFirst = false): Promise<void> {
    const known = this.#pending.get(row._id);
    if (known !== undefined) return known.storing ?? known.settle.promise;
    const item = freshItem(row, this.#nowMs());
    if (isStoredFirst) void this.#storeFirst(item);
    else this.#take(item);
    return item.settle.promise;
  }

  #take(item: Item): void {
    this.#pending.add(item);
    this.#pump();
  }

  async #storeFirst(item: Item): Promise<void> {
    this.#pending.hold(item);
    if (await storeWaiting(this.#deps, item)) this.#take(item);
    else this.#pending.forget(item);
  }

  /** Reads what is due in the store; resolves when it is known whether there is something. */
  start(): Promise<void> {
    return this.#attend();
  }

  /** The store has something new for it. False when it is just being given back, or lost: wake the endpoint then. */
  nudge(): boolean {
    this.#backlog.lookAnew();
    void this.#attend();
    return this.#state === "open" && !this.#lease.isLost;
  }

  /** Its configuration may have changed. */
  refresh(): void {
    this.#lease.expire();
    void this.#attend();
  }

  /** Finishes what is under way and gives the endpoint back. */
  letGo(): void {
    this.#letsGo = true;
    this.#drain();
    void this.#attend();
  }

  /** To be called every 100 ms or so. */
  tick(): void {
    const now = this.#nowMs();
    const limitMs = this.#allowance.limitMs(now);
    this.#spill(now - limitMs);
    for (const item of this.#pending.unstoredUnderWay(now - limitMs)) void this.#storeWaiting(item);
    this.#backlog.tick(now);
    this.#waiting.admit();
    void this.#attend();
  }

  #nowMs(): number {
    return this.#deps.clock.now().getTime();
  }

  #isServing(): boolean {
    const isWanted = !this.#lease.isResting() && !this.#isGone;
    return this.#state === "open" && !this.#letsGo && isWanted && this.#lease.mayBegin();
  }

  /** Whether it should read more of what is due. */
  #isShort(): boolean {
    return this.#backlog.isBehind && this.#isServing() && this.#pending.waiting < this.#lease.row.max_in_flight;
  }

  #pump(): void {
    while (this.#isServing() && this.#pending.waiting > 0 && this.#pending.underWay < this.#lease.row.max_in_flight) {
      if (!this.#pending.hasNext()) break; // all that wait are of subjects that are under way
      const waitMs = this.#pace.take(this.#nowMs());
      if (waitMs > 0) return this.#pumpIn(waitMs);
      const item = this.#pending.next();
      if (item !== null) void this.#request(item);
    }
    if (this.#isShort()) void this.#attend();
  }

  #pumpIn(ms: number): void {
    this.#paceTimer ??= setTimeout(() => {
      this.#paceTimer = undefined;
      this.#pump();
    }, ms);
  }

  async #request(item: Item): Promise<void> {
    const { clock, send, observe } = this.#deps;
    const { endpoint } = this.#lease;
    const beganMs = this.#nowMs();
    const sent = await send(endpoint, item.row);
    const { status, due_at: dueAt } = sent.result;
    this.#pending.ended(item);
    this.#allowance.ended(this.#nowMs(), { beganMs, waiting: this.#pending.waiting });
    const end = { succeeded: status === "success", died: status === "dead", at: clock.now() };
    if (item.row.event_type !== "webhook.test") this.#lease.note(healthAfter(this.#lease.health, end));
    if (dueAt !== null) this.#backlog.retryAt(dueAt);
    observe(endpoint.row, item.row, sent);
    void storeOutcome(this.#deps, item, sent).then(() => this.#pending.forget(item));
    if (!sent.isGone) return this.#pump();
    this.#isGone = true;
    await disableGone(this.#deps, endpoint.row);
    this.refresh();
  }

  /** What has waited in memory since then waits in the store from now on; what it is. */
  #spill(sinceMs: number): Item[] {
    const items = this.#pending.takeUnstored(sinceMs);
    if (items.length > 0) this.#backlog.grow();
    for (const item of items) void this.#storeWaiting(item);
    return items;
  }

  async #storeWaiting(item: Item): Promise<void> {
    await storeWaiting(this.#deps, item);
    this.#backlog.grow(); // a read that began before it was stored has missed it
  }

  /** Takes nothing more to send: what waits is, or will be, in the store. */
  #drain(): Item[] {
    const items = this.#spill(Number.POSITIVE_INFINITY);
    this.#pending.dropWaiting();
    return items;
  }

  /** Looks after all but the requests: the lease, what is due in the store, the end. One run at a time. */
  async #attend(): Promise<void> {
    if (this.#isAttending || this.#state === "closed") return;
    this.#isAttending = true;
    let isMore = false;
    try {
      isMore = await this.#attendOnce();
      this.#failures = 0;
    } catch (err) {
      const { _id: endpoint } = this.#lease.row;
      if (this.#failures++ === 0) this.#deps.log.warn({ err, endpoint }, "webhook.lane_failed"); // the next tick tries again
    }
    this.#isAttending = false;
    this.#waiting.admit();
    if (isMore) setImmediate(() => void this.#attend());
    else if (this.#failures === 0) this.#pump();
  }

  /** True when there is more to do at once. */
  async #attendOnce(): Promise<boolean> {
    if (this.#lease.mustRenew()) await this.#renew();
    if (this.#lease.isLost) return this.#abandon();
    const { row } = this.#lease;
    const isDisabled = row.status === "disabled";
    if (this.#letsGo || this.#lease.isResting()) this.#drain(); // also what a read brought in meanwhile
    if (isDisabled && (await this.#deps.deliveries.buryPage(row._id, "endpoint disabled")) > 0) return true;
    const isRecovering = this.#lease.isRecovering() && !isDisabled && !this.#letsGo;
    if (isRecovering) await this.#recover();
    if (this.#isShort()) await this.#backlog.read(this.#pending, this.#deps.clock.now());
    if (this.#isIdle() && !isRecovering) await this.#close();
    return isRecovering;
  }

  async #renew(): Promise<void> {
    const before = await this.#lease.renew();
    this.#isGone = false;
    const { row } = this.#lease;
    if (row.rate_per_second !== before.rate_per_second) this.#pace = pace(row.rate_per_second);
    if (row.due_changes !== before.due_changes) this.#backlog.lookAnew();
    if (row.status !== before.status) this.#deps.announce(row);
  }

  async #recover(): Promise<void> {
    await this.#lease.renew({ recovery: await this.#deps.recover(this.#lease.row) });
    this.#backlog.grow();
  }

  #isIdle(): boolean {
    if (this.#pending.size > 0) return false;
    const isQuiet = this.#allowance.quietMs(this.#nowMs()) >= idleMs;
    return this.#letsGo || (isQuiet && !(this.#backlog.isBehind && this.#isServing()));
  }

  /** Gives the endpoint back until its next delivery is due; keeps it when that is now, or when it was woken meanwhile. */
  async #close(): Promise<void> {
    this.#state = "closing";
    try {
      const nextAt = await this.#nextAt();
      const isDue = nextAt !== null && nextAt.getTime() <= this.#nowMs() && !this.#lease.isResting();
      if ((this.#letsGo || !isDue) && (await this.#lease.settle(nextAt))) return this.#end();
      await this.#renew();
      this.#backlog.lookAnew();
    } finally {
      if (this.#state === "closing") this.#state = "open";
    }
  }

  /** When somebody has to look at the endpoint again; null when not before it is woken. */
  async #nextAt(): Promise<Date | null> {
    const { _id, paused, status } = this.#lease.row;
    if (paused || status === "disabled") return null;
    return this.#lease.isRecovering() ? this.#deps.clock.now() : this.#deps.deliveries.nextDueAt(_id);
  }

  /** Another has taken over: it is called for what is left to it, and for outcomes that were stored after it looked. */
  async #abandon(): Promise<boolean> {
    await Promise.all(this.#drain().map(({ settle }) => settle.promise));
    const isLast = this.#pending.size === 0;
    if (this.#backlog.isBehind || isLast) await this.#deps.makeDue(this.#lease.row._id);
    this.#backlog.leave();
    if (isLast) this.#end();
    return false;
  }

  #end(): void {
    this.#state = "closed";
    clearTimeout(this.#paceTimer);
    this.#waiting.admit();
    this.closed.resolve();
  }
}
