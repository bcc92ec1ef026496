import { WebhookAttemptList, WebhookDeliveryDetail } from "#core/schema/webhooks/webhook.ts";
import { ofApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { WebhookEndpoints } from "#core/storage/webhooks/endpoints.ts";
import type { WebhookHistory } from "#core/storage/webhooks/history.ts";
import { appOfPath, existing } from "../../http/locate.ts";
import { type Located, routeOf } from "../../http/route.ts";
import type { DeliveryOfEndpoint, replayDelivery } from "./replay.ts";
import { webhookAttemptView, webhookDeliveryDetailView } from "./views.ts";

const ofDelivery = "/v1/apps/{appId}/webhooks/deliveries/{deliveryId}";

/** What the operations on deliveries use. */
type Use = {
  find: WebhookEndpoints["find"];
  findDelivery: WebhookHistory["find"];
  replay: ReturnType<typeof replayDelivery>;
};

const route = routeOf<Use>({ tag: "Webhooks", scopes: ["admin"] });

/** The webhook delivery that the path names, and its webhook: that of one which is gone is gone too. */
const deliveryOfPath = async (located: Located<Use>): Promise<DeliveryOfEndpoint> => {
  const { use, params } = located;
  const app = await appOfPath(located);
  const delivery = existing(await use.findDelivery(ofApp(app), params["deliveryId"] ?? ""), "delivery");
  return { delivery, endpoint: existing(await use.find(ofApp(app), delivery.endpoint_id), "delivery") };
};

export const webhookDeliveryRoutes = [
  route({
    id: "getWebhookDelivery",
    method: "GET",
    path: ofDelivery,
    summary: "Show a delivery with what it says",
    reply: WebhookDeliveryDetail,
    locate: deliveryOfPath,
    handle: async ({ resource: { delivery } }) => ({ body: webhookDeliveryDetailView(delivery) }),
  }),

  route({
    id: "listWebhookAttempts",
    method: "GET",
    path: `${ofDelivery}/attempts`,
    summary: "List the requests that were made for a delivery",
    reply: WebhookAttemptList,
    locate: deliveryOfPath,
    handle: async ({ resource: { delivery } }) => ({ body: { data: delivery.attempts.map(webhookAttemptView) } }),
  }),

  route({
    id: "replayWebhookDelivery",
    method: "POST",
    path: `${ofDelivery}/replay`,
    summary: "Send a delivery again, as a new one of the same event",
    errors: ["HS_CONFLICT"],
    reply: WebhookDeliveryDetail,
    locate: deliveryOfPath,
    feature: "webhooks",
    repeatable: {
      made: async ({ use, resource: { endpoint }, newId }) => {
        const made = await use.findDelivery(ofRow(endpoint), newId("webhookDelivery"));
        return made && { body: webhookDeliveryDetailView(made) };
      },
      show: async ({ use, resource: { endpoint } }, id) => {
        const found = await use.findDelivery(ofRow(endpoint), id);
        return webhookDeliveryDetailView(existing(found, "delivery"));
      },
    },
    handle: async ({ use, resource, newId }) => ({
      body: webhookDeliveryDetailView(await use.replay(resource, newId("webhookDelivery"))),
    }),
  }),
];
