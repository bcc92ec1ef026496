import type { Clock } from "#core/domain/clock.ts";
import type { WebhookHealth } from "#core/domain/webhooks/health.ts";
import {
  healthOf,
  type LeasedWebhook,
  type WebhookFindings,
  type WebhookRow,
  type WebhookWork,
} from "#core/storage/webhooks/webhooks.ts";
import { leaseMs } from "../../work/lease.ts";
import type { Suspensions } from "../../work/suspensions.ts";
import type { Prepared } from "../send/prepare.ts";
import type { WebhookRequests } from "../send/send.ts";

export type EndpointLeaseDeps = {
  endpoints: Pick<WebhookWork, "renew" | "settle">;
  suspensions: Pick<Suspensions, "has" | "defer">;
  requests: Pick<WebhookRequests, "prepare">;
  clock: Clock;
};

const renewMs = { standard: 10_000, success: 5_000, failure: 1_000 };

/** The lease of this process on an endpoint, with the endpoint's configuration and its health, which is written now and then. */
export class EndpointLease {
  readonly #deps: EndpointLeaseDeps;
  #leased: LeasedWebhook;
  #endpoint: Prepared | { row: WebhookRow; problem: string };
  #health: WebhookHealth;
  #isLost = false;
  #isStale = false;
  #unwritten: { sinceMs: number; failure: boolean } | null = null;
  #renewedMs: number;

  constructor(deps: EndpointLeaseDeps, leased: LeasedWebhook) {
    this.#deps = deps;
    this.#leased = leased;
    this.#endpoint = deps.requests.prepare(leased.row);
    this.#health = healthOf(leased.row);
    this.#renewedMs = this.#nowMs();
  }

  get row(): WebhookRow {
    return this.#leased.row;
  }

  get endpoint(): Prepared | { row: WebhookRow; problem: string } {
    return this.#endpoint;
  }

  get health(): WebhookHealth {
    return this.#health;
  }

  /** Whether another process has taken over, or the endpoint is gone. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether nothing is to be sent, so that new deliveries wait in the store. */
  isResting(): boolean {
    const { status, paused, tenant_id: tenantId } = this.row;
    return status === "disabled" || paused || this.#deps.suspensions.has(tenantId);
  }

  /** Whether a recovery or a replay is under way. */
  isRecovering(): boolean {
    return this.row.recovery !== null && this.row.recovery.completed_at === null;
  }

  /** Whether the lease is certainly still ours: a process that stood still for long finds out here. */
  mayBegin(): boolean {
    return !this.#isLost && this.#nowMs() < this.#leased.until.getTime();
  }

  /** Whether the endpoint answered last, so that it may be given more at once. */
  isTrusted(): boolean {
    return this.#health.failure_count === 0 && this.#health.last_success_at !== null;
  }

  /** The endpoint's configuration may have changed: it is read again with the next renewal. */
  expire(): void {
    this.#isStale = true;
  }

  /** Notes the health after a request; it is written with the next renewal. */
  note(health: WebhookHealth): void {
    const failure = health.failure_count > 0 || health.status !== this.#health.status;
    this.#health = health;
    this.#unwritten = {
      sinceMs: this.#unwritten?.sinceMs ?? this.#nowMs(),
      failure: failure || this.#unwritten?.failure === true,
    };
  }

  mustRenew(): boolean {
    const now = this.#nowMs();
    const unwrittenMs = this.#unwritten === null ? 0 : now - this.#unwritten.sinceMs;
    const writeMs = this.#unwritten?.failure ? renewMs.failure : renewMs.success;
    return this.#isStale || now - this.#renewedMs >= renewMs.standard || unwrittenMs >= writeMs;
  }

  /** Extends the lease, writes the health that was noted, and reads the endpoint again. Answers the row as it was before. */
  async renew(more: WebhookFindings = {}): Promise<WebhookRow> {
    const { endpoints, clock, requests } = this.#deps;
    const before = this.#leased.row;
    const notes = this.#takeNotes();
    this.#isStale = false;
    const renewing = endpoints.renew(this.#leased, { ...notes, ...more }, { now: clock.now(), leaseMs });
    const leased = await renewing.catch((error: unknown) => {
      this.#isStale = true;
      throw error;
    });
    this.#renewedMs = this.#nowMs();
    if (leased === null) {
      this.#isLost = true;
      return before;
    }
    const isOurs = leased.row.status === notes.status && leased.row.failure_count === notes.failure_count;
    if (!isOurs) this.#health = healthOf(leased.row); // somebody enabled or disabled it
    this.#leased = leased;
    this.#endpoint = requests.prepare(leased.row);
    return before;
  }

  /** Gives the lease back. False when the endpoint became due, its streak began anew or the lease was lost meanwhile. */
  settle(dueAt: Date | null): Promise<boolean> {
    const { endpoints, suspensions } = this.#deps;
    const { tenant_id: tenantId } = this.row;
    if (dueAt === null || !suspensions.has(tenantId)) return endpoints.settle(this.#leased, dueAt, this.#takeNotes());
    return suspensions.defer(tenantId, (until) =>
      endpoints.settle(this.#leased, until, { ...this.#takeNotes(), suspended_tenant: tenantId }),
    );
  }

  #takeNotes(): WebhookFindings & WebhookHealth {
    this.#unwritten = null;
    return { ...this.#health, ...(this.#health.status === "active" && { notified: null }) };
  }

  #nowMs(): number {
    return this.#deps.clock.now().getTime();
  }
}
