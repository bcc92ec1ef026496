import type { Clock } from "#core/domain/clock.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { WebhookRow, WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Suspensions } from "../../work/suspensions.ts";
import type { Observe } from "../health/observe.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { WebhookRequests } from "../send/send.ts";
import type { Allowance } from "./allowance.ts";
import type { Backlog } from "./backlog.ts";
import type { EndpointLease } from "./endpoint-lease.ts";
import type { PendingDeliveries } from "./pending-deliveries.ts";
import type { ReadMemory } from "./read-memory.ts";
import type { QueueState } from "./state.ts";

/** What an endpoint queue uses. */
export type EndpointQueueDeps = {
  endpoints: Pick<WebhookWork, "renew" | "settle" | "disable"> & {
    /** Leaves an endpoint to another process. */
    makeDueAndHint: (endpointId: string) => Promise<void>;
    announce: (endpoint: Pick<WebhookRow, "_id" | "app_id">) => void;
  };
  deliveries: Pick<Deliveries, "keep" | "record" | "due" | "nextDueAt" | "endPage" | "recover">;
  requests: WebhookRequests;
  health: { observe: Observe };
  suspensions: Pick<Suspensions, "has" | "defer">;
  /** Shared by all endpoint queues of the process. */
  memory: ReadMemory;
  clock: Clock;
  log: Log;
};

/** What the parts of one endpoint queue share. */
export type QueueParts = {
  deps: EndpointQueueDeps;
  nowMs: () => number;
  lease: EndpointLease;
  state: QueueState;
  pending: PendingDeliveries;
  backlog: Backlog;
  allowance: Allowance;
};

/** Whether more of what is due in the store could be sent now. */
export const isShort = ({ backlog, state, pending, lease }: QueueParts): boolean =>
  backlog.isBehind && state.isServing() && pending.waiting < lease.row.max_in_flight;
