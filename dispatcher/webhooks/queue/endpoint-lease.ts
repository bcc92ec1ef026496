import type { Clock } from "#core/domain/clock.ts";
import type { WebhookHealth } from "#core/domain/webhooks/health.ts";
import {
  type HeldWebhook,
  healthOf,
  type Told,
  type WebhookRow,
  type WebhookWork,
} from "#core/storage/webhooks/webhooks.ts";
import { leaseMs } from "../../work/lease.ts";
import type { Suspensions } from "../../work/suspensions.ts";
import { type Prepared, prepare, type Unseal } from "../send/prepare.ts";

export type EndpointLeaseDeps = {
  endpoints: Pick<WebhookWork, "renew" | "settle">;
  suspensions: Pick<Suspensions, "has" | "defer">;
  unseal: Unseal;
  clock: Clock;
};

const renewMs = { standard: 10_000, success: 5_000, failure: 1_000 };

/** An endpoint as this process holds it: its lease, its configuration, and its health, which is written now and then. */
export class EndpointLease {
  readonly #deps: EndpointLeaseDeps;
  #held: HeldWebhook;
  #endpoint: Prepared | { row: WebhookRow; problem: string };
  #health: WebhookHealth;
  #isLost = false;
  #isStale = false;
  #untold: { sinceMs: number; failure: boolean } | null = null;
  #renewedMs: number;

  constructor(deps: EndpointLeaseDeps, held: HeldWebhook) {
    this.#deps = deps;
    this.#held = held;
    this.#endpoint = prepare(held.row, deps.unseal);
    this.#health = healthOf(held.row);
    this.#renewedMs = this.#nowMs();
  }

  get row(): WebhookRow {
    return this.#held.row;
  }

  get endpoint(): Prepared | { row: WebhookRow; problem: string } {
    return this.#endpoint;
  }

  get health(): WebhookHealth {
    return this.#health;
  }

  /** Another has taken over, or the endpoint is gone. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether nothing is to be sent, and what comes waits in the store. */
  isResting(): boolean {
    const { status, paused, tenant_id: tenantId } = this.row;
    return status === "disabled" || paused || this.#deps.suspensions.has(tenantId);
  }

  /** Whether what failed or was missed is being brought back. */
  isRecovering(): boolean {
    return this.row.recovery !== null && this.row.recovery.completed_at === null;
  }

  /** Whether the lease is ours for certain: a process that was stopped for long finds out here. */
  mayBegin(): boolean {
    return !this.#isLost && this.#nowMs() < this.#held.until.getTime();
  }

  /** An endpoint that answered last may be given more at once. */
  isTrusted(): boolean {
    return this.#health.failure_count === 0 && this.#health.last_success_at !== null;
  }

  /** Its configuration may have changed. */
  expire(): void {
    this.#isStale = true;
  }

  tell(health: WebhookHealth): void {
    const failure = health.failure_count > 0 || health.status !== this.#health.status;
    this.#health = health;
    this.#untold = {
      sinceMs: this.#untold?.sinceMs ?? this.#nowMs(),
      failure: failure || this.#untold?.failure === true,
    };
  }

  mustRenew(): boolean {
    const now = this.#nowMs();
    const untoldMs = this.#untold === null ? 0 : now - this.#untold.sinceMs;
    const tellMs = this.#untold?.failure ? renewMs.failure : renewMs.success;
    return this.#isStale || now - this.#renewedMs >= renewMs.standard || untoldMs >= tellMs;
  }

  /** Holds it for longer, writes what is untold and reads it again; what it was like before. */
  async renew(more: Told = {}): Promise<WebhookRow> {
    const { endpoints, clock, unseal } = this.#deps;
    const before = this.#held.row;
    const told = this.#told();
    this.#isStale = false;
    const renewing = endpoints.renew(this.#held, { ...told, ...more }, { now: clock.now(), leaseMs });
    const held = await renewing.catch((error: unknown) => {
      this.#isStale = true;
      throw error;
    });
    this.#renewedMs = this.#nowMs();
    if (held === null) {
      this.#isLost = true;
      return before;
    }
    const isOurs = held.row.status === told.status && held.row.failure_count === told.failure_count;
    if (!isOurs) this.#health = healthOf(held.row); // somebody enabled or disabled it
    this.#held = held;
    this.#endpoint = prepare(held.row, unseal);
    return before;
  }

  /** Gives it back. False when it was woken, began its streak anew or was lost meanwhile. */
  settle(dueAt: Date | null): Promise<boolean> {
    const { endpoints, suspensions } = this.#deps;
    const { tenant_id: tenantId } = this.row;
    if (dueAt === null || !suspensions.has(tenantId)) return endpoints.settle(this.#held, dueAt, this.#told());
    return suspensions.defer(tenantId, (until) =>
      endpoints.settle(this.#held, until, { ...this.#told(), suspended_tenant: tenantId }),
    );
  }

  #told(): Told & WebhookHealth {
    this.#untold = null;
    return { ...this.#health, ...(this.#health.status === "active" && { notified: null }) };
  }

  #nowMs(): number {
    return this.#deps.clock.now().getTime();
  }
}
