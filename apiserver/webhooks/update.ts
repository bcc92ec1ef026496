import type { UpdateWebhook } from "#core/schema/webhooks/webhook.ts";
import { healthAnew, type WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { changeWebhook } from "./change.ts";
import { checkReach, checkWebhook } from "./checks.ts";
import type { WebhookDeps } from "./deps.ts";
import { membersOf } from "./members.ts";

/** Changes an endpoint; what is asked for is judged together with what stays. Nothing asked for, nothing changed or told. */
export const updateWebhook =
  (deps: WebhookDeps) =>
  async (by: By, found: WebhookRow, body: UpdateWebhook): Promise<WebhookRow> => {
    if (Object.keys(body).length === 0) {
      requireUnmanaged("webhook", found);
      return found;
    }
    await checkReach(deps, body.url);
    return changeWebhook(deps, { by, verb: "updated", found }, (row) => {
      const { events = row.events, event_filters: filters = { event_names: row.event_names } } = body;
      checkWebhook(deps, { ...body, events, event_names: filters.event_names });
      return {
        set: { ...membersOf(deps.seal, row._id, body), ...stateOf(row, body.status) },
        isDue: body.status !== undefined || (row.paused && body.paused === false),
      };
    });
  };

/** The only one who disables or enables an endpoint that answers is its owner. Source: spec 3.3. */
const stateOf = (row: WebhookRow, wanted: UpdateWebhook["status"]): Partial<WebhookRow> => {
  if (wanted === "active") return healthAnew;
  if (wanted === undefined || row.status === "disabled") return {};
  return { status: "disabled", disabled_reason: "disabled by its owner" };
};
