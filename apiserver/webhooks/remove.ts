import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { webhookChange } from "./audit.ts";
import { type ChangeDeps, writeWebhook } from "./change.ts";

/**
 * Removes an endpoint as it is now. The dispatcher that hears its doorbell finds it gone and drops its deliveries.
 * @throws AppError HS_MANAGED when a resource enforces it
 */
export const removeWebhook =
  (deps: ChangeDeps) =>
  async (by: By, found: WebhookRow): Promise<void> => {
    const { endpoints, announce, ring, audit, clock } = deps;
    await writeWebhook(deps, found, (before) => {
      requireUnmanaged("webhook", before);
      const change = webhookChange(by, "deleted", { before, after: null }, clock.now());
      return audit(change, async () => (await endpoints.remove(before)) || null);
    });
    announce(found);
    ring(found._id);
  };
