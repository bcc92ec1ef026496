import { healthAfter, type WebhookHealth, type WebhookRequestEnd } from "#core/domain/webhooks/health.ts";
import { healthOf, isSameStreak, type WebhookRow, type WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Suspensions } from "../../work/suspensions.ts";
import type { HealthNotes } from "../health/notes.ts";
import type { Endpoints } from "../partitions/endpoints.ts";
import type { Partitions } from "../partitions/partitions.ts";
import type { Prepared } from "../send/prepare.ts";
import type { WebhookRequests } from "../send/send-webhook.ts";
import { type Trust, trust } from "./trust.ts";

export type EndpointDeps = {
  endpoints: Pick<WebhookWork, "find"> & Pick<Endpoints, "keyOf">;
  partitions: Pick<Partitions, "fenceOf" | "isOwned">;
  suspensions: Pick<Suspensions, "has">;
  requests: Pick<WebhookRequests, "prepare">;
  notes: Pick<HealthNotes, "add" | "has">;
};

/** An endpoint that this process owns: its configuration, and its health, which is written now and then. */
export class Endpoint {
  readonly #deps: EndpointDeps;
  readonly #partition: number;
  row: WebhookRow;
  prepared: Prepared | { row: WebhookRow; problem: string };
  health: WebhookHealth;
  readonly trust: Trust;
  /** Times that its row may have changed, and how many of them the row that is known has seen. */
  #changes = 0;
  #seenChanges = 0;
  /** Whether another process owns it now, or it is gone. */
  isLost = false;

  constructor(deps: EndpointDeps, row: WebhookRow) {
    this.#deps = deps;
    this.row = row;
    this.#partition = deps.endpoints.keyOf(row).partition;
    this.prepared = deps.requests.prepare(row);
    this.health = healthOf(row);
    this.trust = trust(this.health);
  }

  /** Its row may have changed: no request begins until it was read again. */
  changed(): void {
    this.#changes++;
  }

  /** Whether its row may have changed since it was read. */
  get isStale(): boolean {
    return this.#seenChanges < this.#changes;
  }

  /** Whether what requests showed is still to be written. */
  get isNoted(): boolean {
    return this.#deps.notes.has(this);
  }

  /** Whether nothing is to be sent, so that new deliveries wait in the store. */
  isResting(): boolean {
    const { status, paused, tenant_id: tenantId } = this.row;
    return status === "disabled" || paused || this.#deps.suspensions.has(tenantId);
  }

  /** Whether a recovery or a replay is to be done. */
  isRecovering(): boolean {
    const { recovery, status } = this.row;
    return recovery !== null && recovery.completed_at === null && status !== "disabled";
  }

  /** Whether requests may begin: it is certainly still ours, and not to be given up. */
  mayBegin(): boolean {
    return !this.isLost && this.#deps.partitions.fenceOf(this.#partition) === this.row.fence;
  }

  /** Whether it is certainly still ours. */
  mayWrite(): boolean {
    return !this.isLost && this.#deps.partitions.isOwned(this.#partition);
  }

  /** Whether it probably answers, so that it may be given more at once. */
  isTrusted(): boolean {
    return this.trust.isTrusted();
  }

  /** Requests under way at once. */
  mostUnderWay(): number {
    return this.trust.mostUnderWay(this.row.max_in_flight);
  }

  /** Takes note of a request that has ended. */
  note(end: WebhookRequestEnd): void {
    const before = this.health;
    this.health = healthAfter(before, end);
    this.#deps.notes.add(this, !end.succeeded || this.health.status !== before.status);
  }

  /** What was noted has been written. */
  wrote(health: WebhookHealth): void {
    this.row = { ...this.row, ...health, ...(health.status === "active" && { notified: null }) };
  }

  /** Reads its row again. */
  async reread(): Promise<void> {
    const changes = this.#changes; // it may change again meanwhile
    const fresh = await this.#deps.endpoints.find(this.row._id);
    this.#seenChanges = changes;
    this.isLost ||= fresh?.fence !== this.row.fence;
    if (fresh === null || this.isLost) return;
    const isOurs = isSameStreak(fresh, this.row) || isSameStreak(fresh, this.health);
    if (!isOurs) this.health = healthOf(fresh); // somebody enabled or disabled it
    this.row = fresh;
    this.prepared = this.#deps.requests.prepare(fresh);
  }
}
