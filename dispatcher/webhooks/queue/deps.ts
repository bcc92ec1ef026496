import type { Clock } from "#core/domain/clock.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { WebhookRow, WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Observe } from "../health/observe.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { WebhookRequests } from "../send/send.ts";
import type { Allowance } from "./allowance.ts";
import type { Backlog } from "./backlog.ts";
import type { Endpoint, EndpointDeps } from "./endpoint.ts";
import type { PendingDeliveries } from "./pending-deliveries.ts";
import type { ReadMemory } from "./read-memory.ts";
import type { QueueState } from "./state.ts";

/** What an endpoint queue uses. */
export type EndpointQueueDeps = EndpointDeps & {
  endpoints: Pick<WebhookWork, "noteRecovery" | "disable"> & {
    /** Notifies the owner of an endpoint that deliveries were stored for it. */
    notify: (endpointId: string) => void;
    announce: (endpoint: Pick<WebhookRow, "_id" | "app_id">) => void;
  };
  deliveries: Pick<Deliveries, "keep" | "record" | "due" | "nextDueAt" | "endPage" | "recover">;
  requests: WebhookRequests;
  health: { observe: Observe };
  /** Shared by all endpoint queues of the process. */
  memory: ReadMemory;
  clock: Clock;
  log: Log;
};

/** What the parts of one endpoint queue share. */
export type QueueParts = {
  deps: EndpointQueueDeps;
  nowMs: () => number;
  endpoint: Endpoint;
  state: QueueState;
  pending: PendingDeliveries;
  backlog: Backlog;
  allowance: Allowance;
};

/** Whether more of what is due in the store could be sent now. */
export const isShort = ({ backlog, state, pending, endpoint }: QueueParts): boolean =>
  backlog.isBehind && state.isServing() && pending.waiting < endpoint.row.max_in_flight;
