import { WebhookAttemptList, WebhookDeliveryDetail } from "#core/schema/webhooks/webhook.ts";
import { existing, webhookDeliveryOfPath } from "../access/locate.ts";
import { route } from "../http/route.ts";
import { ofWebhooks, webhookTag as tag, webhooksInPlan } from "./routes.ts";
import { webhookAttemptView, webhookDeliveryDetailView } from "./views.ts";

const ofDelivery = `${ofWebhooks}/deliveries/{deliveryId}`;

export const webhookDeliveryRoutes = [
  route({
    id: "getWebhookDelivery",
    method: "GET",
    path: ofDelivery,
    summary: "Show a delivery with what it says",
    tag,
    scopes: ["admin"],
    status: [200],
    reply: WebhookDeliveryDetail,
    locate: webhookDeliveryOfPath,
    handle: async ({ resource: { delivery } }) => ({ body: webhookDeliveryDetailView(delivery) }),
  }),

  route({
    id: "listWebhookAttempts",
    method: "GET",
    path: `${ofDelivery}/attempts`,
    summary: "List the requests that were made for a delivery",
    tag,
    scopes: ["admin"],
    status: [200],
    reply: WebhookAttemptList,
    locate: webhookDeliveryOfPath,
    handle: async ({ resource: { delivery } }) => ({ body: { data: delivery.attempts.map(webhookAttemptView) } }),
  }),

  route({
    id: "replayWebhookDelivery",
    method: "POST",
    path: `${ofDelivery}/replay`,
    summary: "Send a delivery again, as a new one of the same event",
    tag,
    scopes: ["admin"],
    status: [200],
    errors: ["HS_PLAN_FEATURE_REQUIRED", "HS_CONFLICT"],
    reply: WebhookDeliveryDetail,
    locate: webhookDeliveryOfPath,
    inPlan: webhooksInPlan,
    repeatable: {
      made: async ({ use, resource: { endpoint }, newId }) => {
        const made = await use.webhooks.findDelivery(endpoint.tenant_id, endpoint.app_id, newId("webhookDelivery"));
        return made && { body: webhookDeliveryDetailView(made) };
      },
      show: async ({ use, resource: { endpoint } }, id) => {
        const found = await use.webhooks.findDelivery(endpoint.tenant_id, endpoint.app_id, id);
        return webhookDeliveryDetailView(existing(found, "delivery"));
      },
    },
    handle: async ({ use, resource, newId }) => ({
      body: webhookDeliveryDetailView(await use.webhooks.replay(resource, newId("webhookDelivery"))),
    }),
  }),
];
