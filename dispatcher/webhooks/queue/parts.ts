import type { Allowance } from "./allowance.ts";
import type { Backlog } from "./backlog.ts";
import type { EndpointQueueDeps } from "./deps.ts";
import type { EndpointLease } from "./endpoint-lease.ts";
import type { PendingDeliveries } from "./pending-deliveries.ts";
import type { QueueState } from "./state.ts";

/** What the parts of one endpoint queue share. */
export type QueueParts = {
  deps: EndpointQueueDeps;
  lease: EndpointLease;
  state: QueueState;
  pending: PendingDeliveries;
  backlog: Backlog;
  allowance: Allowance;
};

/** Whether more of what is due in the store could be sent now. */
export const isShort = ({ backlog, state, pending, lease }: QueueParts): boolean =>
  backlog.isBehind && state.isServing() && pending.waiting < lease.row.max_in_flight;
