import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { UpdateWebhook } from "#core/schema/webhooks/webhook.ts";
import { healthAnew, type WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import type { Settings } from "../settings/settings.ts";
import { type CheckDeps, checkReach, checkWebhook } from "./checks.ts";
import { membersOf } from "./members.ts";

type UpdateDeps = CheckDeps & {
  settings: Pick<Settings<WebhookRow>, "change">;
  secrets: Pick<KeyRing, "seal">;
};

/**
 * Changes an endpoint; what is asked for is judged with what stays. Nothing asked for: nothing is changed, and no
 * event reports it.
 */
export const updateWebhook =
  (deps: UpdateDeps) =>
  async (by: By, found: WebhookRow, body: UpdateWebhook): Promise<WebhookRow> => {
    if (Object.keys(body).length === 0) {
      requireUnmanaged("webhook", found);
      return found;
    }
    await checkReach(deps, body.url);
    return deps.settings.change(by, "updated", found, (row) => {
      const { events = row.events, event_filters: filters = filtersOf(row) } = body;
      checkWebhook(deps, { ...body, ...filters, events });
      return { set: { ...membersOf(deps.secrets, row._id, body), ...stateOf(row, body.status) } };
    });
  };

const filtersOf = ({ event_names, audience = null }: WebhookRow) => ({ event_names, audience });

/** Only its owner disables or enables an endpoint that answers. Source: docs/reference/webhooks.md#disabling. */
const stateOf = (row: WebhookRow, wanted: UpdateWebhook["status"]): Partial<WebhookRow> => {
  if (wanted === "active") return healthAnew;
  if (wanted === undefined || row.status === "disabled") return {};
  return { status: "disabled", disabled_reason: "disabled by its owner" };
};
