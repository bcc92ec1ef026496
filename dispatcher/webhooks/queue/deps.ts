import type { Clock } from "#core/domain/clock.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { WebhookRow, WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Suspensions } from "../../work/suspensions.ts";
import type { Observe } from "../health/observe.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { WebhookRequests } from "../send/send.ts";
import type { ReadMemory } from "./read-memory.ts";

/** What an endpoint queue uses. */
export type EndpointQueueDeps = {
  endpoints: Pick<WebhookWork, "renew" | "settle" | "disable"> & {
    /** Leaves an endpoint to another process. */
    makeDue: (endpointId: string) => Promise<void>;
    announce: (endpoint: Pick<WebhookRow, "_id" | "app_id">) => void;
  };
  deliveries: Pick<Deliveries, "keep" | "record" | "due" | "nextDueAt" | "buryPage" | "recover">;
  requests: WebhookRequests;
  health: { observe: Observe };
  suspensions: Pick<Suspensions, "has" | "defer">;
  /** Shared by all endpoint queues of the process. */
  memory: ReadMemory;
  clock: Clock;
  log: Log;
};
