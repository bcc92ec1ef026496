import { healthAnew, type WebhookRow, webhookDefaults } from "#core/storage/webhooks/webhooks.ts";

/** An active endpoint of app_1 that wants `delivery.sent`. */
export const aWebhook = (over: Partial<WebhookRow> = {}): WebhookRow => ({
  ...webhookDefaults,
  ...healthAnew,
  _id: "whk_1",
  tenant_id: "ten_1",
  app_id: "app_1",
  url: "https://hooks.example.com/in",
  description: null,
  events: ["delivery.sent"],
  event_names: [],
  secret: { kid: "test", data: "" },
  previous_secret: null,
  last_success_at: null,
  last_failure_at: null,
  managed: null,
  created_at: new Date("2026-01-01T00:00:00Z"),
  updated_at: new Date("2026-01-01T00:00:00Z"),
  ...over,
});
