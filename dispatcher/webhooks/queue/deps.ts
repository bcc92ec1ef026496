import type { WebhookDeliveries, WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { RecoveryRow, WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { DisableDeps } from "../health/disable-gone.ts";
import type { SendWebhook, Sent } from "../send/send.ts";
import type { BacklogDeps } from "./backlog.ts";
import type { EndpointLeaseDeps } from "./endpoint-lease.ts";
import type { StoreDeps } from "./store-item.ts";

/** What an endpoint queue needs. */
export type EndpointQueueDeps = EndpointLeaseDeps &
  StoreDeps &
  DisableDeps &
  BacklogDeps & {
    deliveries: Pick<WebhookDeliveries, "buryPage">;
    send: SendWebhook;
    /** One page of what its owner wants sent again. */
    recover: (row: WebhookRow) => Promise<RecoveryRow>;
    /** The endpoint has deliveries for another to send. */
    makeDue: (endpointId: string) => Promise<void>;
    observe: (endpoint: WebhookRow, delivery: WebhookDeliveryRow, sent: Sent) => void;
  };
