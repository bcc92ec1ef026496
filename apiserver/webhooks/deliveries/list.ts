import {
  type WebhookDelivery,
  type WebhookDeliveryQuery,
  webhookDeliveryPaging,
} from "#core/schema/webhooks/webhook.ts";
import { anyDelivery, type WebhookHistory } from "#core/storage/webhooks/history.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { type Cursors, type Page, readPage } from "../../http/pages.ts";
import { webhookDeliveryView } from "./views.ts";

/** One page of what was sent to an endpoint, the newest first. */
export const listWebhookDeliveries =
  ({ history, cursors }: { history: Pick<WebhookHistory, "list">; cursors: Cursors }) =>
  (endpoint: WebhookRow, query: WebhookDeliveryQuery): Promise<Page<WebhookDelivery>> =>
    readPage({
      cursors,
      paging: webhookDeliveryPaging,
      list: `webhook-deliveries/${endpoint._id}`,
      query,
      read: ({ after, ...page }) =>
        history.list(
          endpoint._id,
          { status: query.status ?? null, eventType: query.event_type ?? null },
          { ...anyDelivery, ...(after !== null && { below: after }), ...page },
        ),
      positionOf: (row) => row._id,
      view: webhookDeliveryView,
    });
