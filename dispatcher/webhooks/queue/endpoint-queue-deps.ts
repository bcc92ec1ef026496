import type { Clock } from "#core/domain/clock.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Observe } from "../health/observe.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { Endpoints } from "../partitions/endpoints.ts";
import type { WebhookRequests } from "../send/send-webhook.ts";
import type { EndpointDeps } from "./endpoint.ts";
import type { Probes } from "./probes.ts";
import type { ReadMemory } from "./read-memory.ts";
import type { StoringDeps } from "./storing.ts";

/** What an endpoint queue uses. */
export type EndpointQueueDeps = EndpointDeps &
  StoringDeps & {
    endpoints: Pick<WebhookWork, "noteRecovery" | "disable"> & Pick<Endpoints, "notify" | "announce" | "keyOf">;
    deliveries: Pick<Deliveries, "due" | "nextDueAt" | "endPage" | "recover">;
    requests: WebhookRequests;
    health: { observe: Observe };
    /** Shared by all endpoint queues of the process. */
    memory: ReadMemory;
    probes: Probes;
    clock: Clock;
    log: Log;
  };
