import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import { aMail } from "../callbacks/deliveries.ts";
import { seedConversation } from "../rows/conversations.ts";
import { anEnvelope, aWebhookDelivery } from "../rows/webhook-deliveries.ts";
import type { Installation } from "./api.ts";
import { formOf } from "./form.ts";
import { aVariant } from "./in-app-messages.ts";
import type { Tenant } from "./site.ts";

/** By the parameter of a path, the id of something. */
export type Things = Readonly<Record<string, string>>;

/**
 * Makes one thing of each kind that paths name, all of a tenant. The tenant is the operating one, as incidents are no other's.
 */
export const thingsOf = async (site: Installation, { tenant, app, token }: Tenant): Promise<Things> => {
  const ofApp = `/v1/apps/${app._id}`;
  const make = async (path: string, body: object) => (await site.api.call("POST", path, { token, body })).body;
  const makeBelow = async (path: string, body: object) => (await make(ofApp + path, body)).id;
  const user = await make(`${ofApp}/users`, {
    external_id: "them",
    subscriptions: [
      { channel: "email", token: "them@example.com" },
      { channel: "ios_push", token: "ab".repeat(32) },
    ],
  });
  const schema = { type: "object", properties: {} };
  const activityType = await makeBelow("/live-activities/types", { name: "match", content_state_schema: schema });
  const start = { activity_id: "theirs", content_state: {}, target: { all: true } };
  await make(`${ofApp}/live-activities/${activityType}/start`, start);
  const channelId = await makeBelow("/live-activities/types/match/channels", {});
  await make(`${ofApp}/events`, { events: [{ name: "their.event" }] });
  const webhookId = await makeBelow("/webhooks", { url: "https://hooks.example.com/", events: ["delivery.sent"] });
  const row = { tenant_id: tenant._id, endpoint_id: webhookId, _id: "whd_theirs" };
  const delivery = aWebhookDelivery(anEnvelope({ app_id: app._id }), row);
  await site.db.collection<WebhookDeliveryRow>("webhook_deliveries").insertOne(delivery);
  const ofMessage = aMail({ tenant_id: tenant._id, app_id: app._id }).delivery;
  await site.db.collection<DeliveryRow>("deliveries").insertOne(ofMessage);
  const upload = formOf({ type: "csv_users", file: "external_id\nthem\n" });
  const message = { app_id: app._id, target: { all: true }, contents: { en: "x" } };
  const incident = { title: "x", severity: "minor", components: ["api"], message: "x" };
  const templateId = await makeBelow("/templates", { name: "theirs", content: { contents: { en: "x" } } });
  await makeBelow(`/templates/${templateId}/publish`, {});
  return {
    appId: app._id,
    label: "external_id",
    id: "them",
    subscriptionId: user.subscriptions[0]?.id ?? "",
    messageId: (await make("/v1/notifications", message)).id,
    webhookId,
    deliveryId: "whd_theirs",
    messageDeliveryId: ofMessage._id,
    channel: "ios_push",
    token: "ab".repeat(32),
    aliasLabel: "external_id",
    activityType,
    activityId: "theirs",
    channelId,
    name: "their.event",
    exportId: await makeBelow("/exports", { type: "users" }),
    importId: (await site.api.call("POST", `${ofApp}/imports`, { token, ...upload })).body.id,
    segmentId: await makeBelow("/segments", { name: "theirs", kind: "list" }),
    inAppMessageId: await makeBelow("/in-app-messages", { name: "theirs", variants: [aVariant()] }),
    suppressionId: await makeBelow("/suppressions", { external_id: "them" }),
    conversationId: (await seedConversation(site.db, { tenant_id: tenant._id, app_id: app._id })).row._id,
    templateId,
    version: "1",
    keyId: (await make("/v1/api-keys", { name: "theirs", scopes: ["events:write"] })).id,
    warehouseExportId: await makeBelow("/warehouse-exports", { name: "theirs", ...warehouse }),
    incidentId: (await make("/v1/incidents", incident)).id,
  };
};

const warehouse = {
  destination: { type: "s3", bucket: "their-lake", access_key_id: "theirs", secret_access_key: "theirs" },
  datasets: ["deliveries"],
  test: false, // no dispatcher runs
};

/** A path with the ids of things in the place of its parameters. */
export const pathTo = (path: string, things: Things): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => things[name] ?? "");
