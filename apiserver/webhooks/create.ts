import { newId } from "#core/domain/ids.ts";
import type { CreateWebhook } from "#core/schema/webhook.ts";
import type { AppRow } from "#core/storage/apps.ts";
import { asleep } from "#core/storage/wake.ts";
import { healthAnew, type WebhookRow, webhookDefaults } from "#core/storage/webhooks.ts";
import type { By } from "../audit.ts";
import { webhookFact } from "./audit.ts";
import { checkWebhook } from "./checks.ts";
import type { WebhookDeps } from "./deps.ts";
import { membersOf } from "./members.ts";
import type { planRules } from "./plan.ts";

export type CreateDeps = WebhookDeps & { plan: Pick<ReturnType<typeof planRules>, "requireCount"> };

export type WithSecret = { row: WebhookRow; secret: string };

/**
 * Makes an endpoint. It is stored first and counted then: of two that are made at once and together pass the plan's
 * number, at least the one that counts last is taken back, so that the number is never passed.
 */
export const createWebhook =
  (deps: CreateDeps) =>
  async (by: By, app: AppRow, body: CreateWebhook): Promise<WithSecret> => {
    checkWebhook(deps, { ...body, event_names: body.event_filters?.event_names });
    const secret = deps.newSecret();
    const row = newRow(deps, app, { body, secret });
    await deps.endpoints.insert(row);
    try {
      await deps.plan.requireCount(by.caller, await deps.endpoints.count(app._id));
    } catch (error) {
      await deps.endpoints.remove(row);
      throw error;
    }
    deps.announce(row._id);
    await deps.audit(webhookFact(by, "created", { before: null, after: row }, deps.clock.now()));
    return { row, secret };
  };

const newRow = (
  { clock, seal }: CreateDeps,
  app: AppRow,
  { body, secret }: { body: CreateWebhook; secret: string },
): WebhookRow => {
  const now = clock.now();
  const id = newId("webhook", now);
  return {
    ...asleep,
    ...webhookDefaults,
    _id: id,
    tenant_id: app.tenant_id,
    app_id: app._id,
    url: body.url,
    description: null,
    events: body.events,
    event_names: [],
    ...membersOf(seal, id, body),
    ...healthAnew,
    last_success_at: null,
    last_failure_at: null,
    secret: seal(secret, `webhooks/${id}/secret`),
    previous_secret: null,
    managed: null,
    created_at: now,
    updated_at: now,
  };
};
