import {
  CreateWebhook,
  PreviewWebhook,
  RecoverWebhook,
  Recovery,
  ReplayWebhook,
  UpdateWebhook,
  Webhook,
  WebhookDeliveryDetail,
  WebhookDeliveryPage,
  WebhookDeliveryQuery,
  WebhookHealthReport,
  WebhookList,
  WebhookPreviewResult,
  WebhookWithSecret,
} from "#core/schema/webhooks/webhook.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import type { NewId } from "../http/route.ts";
import { routeOf } from "../http/route.ts";
import { locateSetting, settingRoutes } from "../settings/routes.ts";
import { webhookDeliveryRoutes } from "./deliveries/routes.ts";
import { recoveryView, webhookDeliveryDetailView } from "./deliveries/views.ts";
import { docs } from "./openapi.ts";
import { isRotatedSince } from "./secret.ts";
import { type Webhooks, webhookUseCases } from "./use-cases.ts";

const tag = "Webhooks";
const path = "/v1/apps/{appId}/webhooks";
const ofWebhook = `${path}/{webhookId}`;
const named = { what: "webhook", parameter: "webhookId" };

const schemas = {
  create: CreateWebhook,
  update: UpdateWebhook,
  view: Webhook,
  made: WebhookWithSecret,
  list: WebhookList,
};

const usual = settingRoutes<WebhookRow, typeof schemas>({
  name: "Webhook",
  ...named,
  tag,
  path,
  idKind: "webhook",
  feature: "webhooks",
  schemas,
  summaries: {
    list: "List the webhooks of an app",
    create: "Make a webhook; its secret is shown here only",
    get: "Show a webhook",
    update: "Change a webhook",
    remove: "Remove a webhook and what waits for it",
  },
});

const route = routeOf<Webhooks>({ tag, scopes: ["admin"] });

const locate = locateSetting<WebhookRow>(named);

/** The recovery that an attempt began which was cut short: it is the endpoint's last one. */
const recoveryMade = async ({ resource, newId }: { resource: WebhookRow; newId: NewId }) =>
  resource.recovery?.id === newId("recovery") ? { body: recoveryView(resource.recovery) } : null;

const routes = [
  ...webhookDeliveryRoutes,
  usual.list,
  usual.create,

  route({
    id: "previewWebhook",
    method: "POST",
    path: `${path}/preview`,
    summary: "Show what would be sent for an event; nothing is sent",
    body: PreviewWebhook,
    reply: WebhookPreviewResult,
    locate: appOfPath,
    feature: "webhooks",
    handle: async ({ use, body, resource }) => ({ body: await use.preview(resource, body) }),
  }),

  usual.get,
  usual.update,
  usual.remove,

  route({
    id: "rotateWebhookSecret",
    method: "POST",
    path: `${ofWebhook}/rotate-secret`,
    summary: "Give a webhook a new secret; the former one signs too for 24 hours",
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    reply: WebhookWithSecret,
    locate,
    feature: "webhooks",
    repeatable: {
      made: async ({ use, resource, once }) => {
        if (once === null || !isRotatedSince(resource, once.begunAt)) return null;
        return { body: use.viewMade(resource) };
      },
    },
    handle: async ({ use, caller, ip, requestId, resource }) => ({
      body: use.viewMade(await use.rotateSecret({ caller, ip, requestId }, resource)),
    }),
  }),

  route({
    id: "testWebhook",
    method: "POST",
    path: `${ofWebhook}/test`,
    summary: "Send a test event now; 200 also when the endpoint fails, as the delivery then tells",
    reply: WebhookDeliveryDetail,
    locate,
    feature: "webhooks",
    repeatable: {},
    handle: async ({ use, resource, newId, once }) => {
      const made = await use.test(resource, { id: newId("event"), at: once?.begunAt ?? null });
      return { body: webhookDeliveryDetailView(made) };
    },
  }),

  route({
    id: "listWebhookDeliveries",
    method: "GET",
    path: `${ofWebhook}/deliveries`,
    summary: "List what was sent to a webhook",
    query: WebhookDeliveryQuery,
    reply: WebhookDeliveryPage,
    locate,
    handle: async ({ use, query, resource }) => ({ body: await use.listDeliveries(resource, query) }),
  }),

  route({
    id: "recoverWebhook",
    method: "POST",
    path: `${ofWebhook}/recover`,
    summary: "Send again, once for each event, what failed or was missed",
    status: [202],
    errors: ["HS_CONFLICT"],
    body: RecoverWebhook,
    reply: Recovery,
    locate,
    feature: "webhooks",
    repeatable: { made: recoveryMade },
    handle: async ({ use, body, resource, newId }) => ({
      body: recoveryView(await use.recover(resource, newId("recovery"), body)),
    }),
  }),

  route({
    id: "replayWebhookDeliveries",
    method: "POST",
    path: `${ofWebhook}/replay`,
    summary: "Send again every delivery of a window that fits",
    status: [202],
    errors: ["HS_CONFLICT"],
    body: ReplayWebhook,
    reply: Recovery,
    locate,
    feature: "webhooks",
    repeatable: { made: recoveryMade },
    handle: async ({ use, body, resource, newId }) => ({
      body: recoveryView(await use.replayMany(resource, newId("recovery"), body)),
    }),
  }),

  route({
    id: "getWebhookHealth",
    method: "GET",
    path: `${ofWebhook}/health`,
    summary: "Show how the requests of the last hour and day went",
    reply: WebhookHealthReport,
    locate,
    handle: async ({ use, resource }) => ({ body: await use.health(resource) }),
  }),
];

/** Endpoints that events are sent to, and what was sent to them. */
export const webhooks = feature({ make: webhookUseCases, routes, ...docs });
