import type { CreateWebhook } from "#core/schema/webhooks/webhook.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { healthAnew, type WebhookRow, webhookDefaults } from "#core/storage/webhooks/webhooks.ts";
import { noWork } from "#core/storage/work/due.ts";
import type { By } from "../settings/audit.ts";
import { webhookChange } from "./audit.ts";
import { checkReach, checkWebhook } from "./checks.ts";
import type { WebhookDeps } from "./deps.ts";
import { membersOf } from "./members.ts";
import type { planRules } from "./plan.ts";

export type CreateDeps = WebhookDeps & { plan: Pick<ReturnType<typeof planRules>, "requireCount"> };

export type WithSecret = { row: WebhookRow; secret: string };

/** Makes an endpoint with an id of its own. */
export const createWebhook =
  (deps: CreateDeps) =>
  async (by: By, app: AppRow, id: string, body: CreateWebhook): Promise<WithSecret> => {
    checkWebhook(deps, { ...body, event_names: body.event_filters?.event_names });
    await checkReach(deps, body.url);
    const secret = deps.newSecret();
    const row = newRow(deps, app, { id, body, secret });
    const change = webhookChange(by, "created", { before: null, after: row }, row.created_at);
    await deps.audit(change, async () => {
      await insertWithinPlan(deps, by, row);
      deps.announce(row); // before its event is told: it may want it
      return row;
    });
    return { row, secret };
  };

/** An endpoint with its secret, for who asked to be told of it and was not. */
export const withSecret =
  ({ unseal }: Pick<WebhookDeps, "unseal">) =>
  (row: WebhookRow): WithSecret => ({ row, secret: unseal(row.secret, secretPlace(row._id)) });

/** Where the secret of an endpoint is sealed for. */
export const secretPlace = (id: string): string => `webhooks/${id}/secret`;

/**
 * Stores first and counts then: of two that are made at once and together pass the plan's number, at least the one that
 * counts last is taken back, so that the number is never passed.
 */
const insertWithinPlan = async ({ endpoints, plan }: CreateDeps, { caller }: By, row: WebhookRow): Promise<void> => {
  await endpoints.insert(row);
  try {
    await plan.requireCount(caller, await endpoints.count(row.app_id));
  } catch (error) {
    await endpoints.takeBack(row);
    throw error;
  }
};

const newRow = (
  { clock, seal }: CreateDeps,
  app: AppRow,
  { id, body, secret }: { id: string; body: CreateWebhook; secret: string },
): WebhookRow => {
  const now = clock.now();
  return {
    ...noWork,
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
    secret: seal(secret, secretPlace(id)),
    previous_secret: null,
    managed: null,
    created_at: now,
    updated_at: now,
  };
};
