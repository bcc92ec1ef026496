import { NotFound } from "#core/errors.ts";
import type { WebhookRow } from "#core/storage/webhooks.ts";
import type { By } from "../audit.ts";
import { requireUnmanaged } from "../managed.ts";
import { webhookChange } from "./audit.ts";
import type { WebhookDeps } from "./deps.ts";

/** Removes an endpoint. The dispatcher that hears its doorbell finds it gone and drops its deliveries. */
export const removeWebhook =
  ({ endpoints, announce, ring, audit, clock }: WebhookDeps) =>
  async (by: By, row: WebhookRow): Promise<void> => {
    requireUnmanaged("webhook", row);
    const change = webhookChange(by, "deleted", { before: row, after: null }, clock.now());
    const removed = await audit(change, async () => (await endpoints.remove(row)) || null);
    if (removed === null) throw new NotFound("webhook");
    announce(row._id);
    ring(row._id);
  };
