import { OkReply } from "#core/schema/json/error.ts";
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
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Caller } from "../access/caller.ts";
import { appOfPath, existing } from "../http/locate.ts";
import type { NewId } from "../http/once.ts";
import { type Located, routeOf } from "../http/route.ts";
import type { WithSecret } from "./create.ts";
import { isRotatedSince } from "./rotate-secret.ts";
import type { Webhooks } from "./use-cases.ts";
import { recoveryView, webhookDeliveryDetailView, webhookView } from "./views.ts";

export const webhookTag = "Webhooks";
export const ofWebhooks = "/v1/apps/{appId}/webhooks";
const tag = webhookTag;
const ofWebhook = `${ofWebhooks}/{webhookId}`;

type Asked<R> = { use: Webhooks; caller: Caller; resource: R };

/** Reading and removing what there is needs no plan; making, changing and sending does. */
export const webhooksInPlan = ({ use, caller }: Asked<unknown>): Promise<void> => use.plan.requireFeature(caller);

const roomInPlan = ({ use, caller, resource: app }: Asked<AppRow>): Promise<void> => use.plan.requireRoom(caller, app);

export const route = routeOf<Webhooks>();

/** The webhook that the path names. */
const webhookOfPath = async (located: Located<Webhooks>): Promise<WebhookRow> => {
  const { tenant_id: tenantId, _id: appId } = await appOfPath(located);
  return existing(await located.use.find(tenantId, appId, located.params["webhookId"] ?? ""), "webhook");
};

const withSecret = ({ row, secret }: WithSecret, now: Date): WebhookWithSecret => ({
  ...webhookView(row, now),
  secret,
});

/** The recovery that an attempt began which was cut short: it is the endpoint's last one. */
const recoveryMade = async ({ resource, newId }: { resource: WebhookRow; newId: NewId }) =>
  resource.recovery?.id === newId("recovery") ? { body: recoveryView(resource.recovery) } : null;

export const webhookRoutes = [
  route({
    id: "listWebhooks",
    method: "GET",
    path: ofWebhooks,
    summary: "List the webhooks of an app",
    tag,
    scopes: ["admin"],
    status: [200],
    reply: WebhookList,
    locate: appOfPath,
    handle: async ({ use, resource: { tenant_id, _id } }) => {
      const rows = await use.ofApp(tenant_id, _id);
      return { body: { data: rows.map((row) => webhookView(row, use.clock.now())) } };
    },
  }),

  route({
    id: "createWebhook",
    method: "POST",
    path: ofWebhooks,
    summary: "Make a webhook; its secret is told here only",
    tag,
    scopes: ["admin"],
    status: [201],
    errors: ["HS_QUOTA_EXCEEDED"],
    body: CreateWebhook,
    reply: WebhookWithSecret,
    locate: appOfPath,
    inPlan: roomInPlan,
    repeatable: {
      made: async ({ use, resource, newId }) => {
        const made = await use.find(resource.tenant_id, resource._id, newId("webhook"));
        return made && { body: withSecret(use.withSecret(made), use.clock.now()) };
      },
    },
    handle: async ({ use, caller, ip, body, resource, newId }) => ({
      body: withSecret(await use.create({ caller, ip }, resource, newId("webhook"), body), use.clock.now()),
    }),
  }),

  route({
    id: "previewWebhook",
    method: "POST",
    path: `${ofWebhooks}/preview`,
    summary: "Show what would be sent for an event; nothing is sent",
    tag,
    scopes: ["admin"],
    status: [200],
    body: PreviewWebhook,
    reply: WebhookPreviewResult,
    locate: appOfPath,
    inPlan: webhooksInPlan,
    handle: async ({ use, body, resource }) => ({ body: await use.preview(resource, body) }),
  }),

  route({
    id: "getWebhook",
    method: "GET",
    path: ofWebhook,
    summary: "Show a webhook",
    tag,
    scopes: ["admin"],
    status: [200],
    reply: Webhook,
    locate: webhookOfPath,
    handle: async ({ use, resource }) => ({ body: webhookView(resource, use.clock.now()) }),
  }),

  route({
    id: "updateWebhook",
    method: "PATCH",
    path: ofWebhook,
    summary: "Change a webhook",
    tag,
    scopes: ["admin"],
    status: [200],
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    body: UpdateWebhook,
    reply: Webhook,
    locate: webhookOfPath,
    inPlan: webhooksInPlan,
    handle: async ({ use, caller, ip, body, resource }) => ({
      body: webhookView(await use.update({ caller, ip }, resource, body), use.clock.now()),
    }),
  }),

  route({
    id: "deleteWebhook",
    method: "DELETE",
    path: ofWebhook,
    summary: "Remove a webhook and what waits for it",
    tag,
    scopes: ["admin"],
    status: [200],
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    reply: OkReply,
    locate: webhookOfPath,
    handle: async ({ use, caller, ip, resource }) => {
      await use.remove({ caller, ip }, resource);
      return { body: { ok: true as const } };
    },
  }),

  route({
    id: "rotateWebhookSecret",
    method: "POST",
    path: `${ofWebhook}/rotate-secret`,
    summary: "Give a webhook a new secret; the former one signs too for 24 hours",
    tag,
    scopes: ["admin"],
    status: [200],
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    reply: WebhookWithSecret,
    locate: webhookOfPath,
    inPlan: webhooksInPlan,
    repeatable: {
      made: async ({ use, resource, once }) => {
        if (once === null || !isRotatedSince(resource, once.begunAt)) return null;
        return { body: withSecret(use.withSecret(resource), use.clock.now()) };
      },
    },
    handle: async ({ use, caller, ip, resource }) => ({
      body: withSecret(await use.rotateSecret({ caller, ip }, resource), use.clock.now()),
    }),
  }),

  route({
    id: "testWebhook",
    method: "POST",
    path: `${ofWebhook}/test`,
    summary: "Send a test event now; 200 also when the endpoint fails, as the delivery then tells",
    tag,
    scopes: ["admin"],
    status: [200],
    reply: WebhookDeliveryDetail,
    locate: webhookOfPath,
    inPlan: webhooksInPlan,
    repeatable: {},
    handle: async ({ use, resource }) => ({ body: webhookDeliveryDetailView(await use.test(resource)) }),
  }),

  route({
    id: "listWebhookDeliveries",
    method: "GET",
    path: `${ofWebhook}/deliveries`,
    summary: "List what was sent to a webhook",
    tag,
    scopes: ["admin"],
    status: [200],
    query: WebhookDeliveryQuery,
    reply: WebhookDeliveryPage,
    locate: webhookOfPath,
    handle: async ({ use, query, resource }) => ({ body: await use.listDeliveries(resource, query) }),
  }),

  route({
    id: "recoverWebhook",
    method: "POST",
    path: `${ofWebhook}/recover`,
    summary: "Send again, once for each event, what failed or was missed",
    tag,
    scopes: ["admin"],
    status: [202],
    errors: ["HS_CONFLICT"],
    body: RecoverWebhook,
    reply: Recovery,
    locate: webhookOfPath,
    inPlan: webhooksInPlan,
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
    tag,
    scopes: ["admin"],
    status: [202],
    errors: ["HS_CONFLICT"],
    body: ReplayWebhook,
    reply: Recovery,
    locate: webhookOfPath,
    inPlan: webhooksInPlan,
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
    tag,
    scopes: ["admin"],
    status: [200],
    reply: WebhookHealthReport,
    locate: webhookOfPath,
    handle: async ({ use, resource }) => ({ body: await use.health(resource) }),
  }),
];
