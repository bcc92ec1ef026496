import type { WebhookHealthReport } from "#core/schema/webhooks/webhook.ts";
import type { WebhookStats } from "#core/storage/webhooks/stats.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Cursors } from "../http/pages.ts";
import { createWebhook, withSecret } from "./create.ts";
import type { WebhookDeps } from "./deps.ts";
import { listWebhookDeliveries } from "./list-deliveries.ts";
import { type PlanRulesDeps, planRules } from "./plan.ts";
import { type PreviewDeps, previewWebhook } from "./preview.ts";
import { recoverWebhook, replayMany } from "./recover.ts";
import { removeWebhook } from "./remove.ts";
import { replayDelivery } from "./replay.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { type TestDeps, testWebhook } from "./test.ts";
import { updateWebhook } from "./update.ts";

export type WebhookUseCaseDeps = WebhookDeps &
  TestDeps &
  PreviewDeps & { plans: PlanRulesDeps["plans"]; cursors: Cursors; stats: Pick<WebhookStats, "summary"> };

export type WebhookUseCases = ReturnType<typeof webhookUseCases>;

/** What the handlers of webhooks can ask for. */
export const webhookUseCases = (deps: WebhookUseCaseDeps) => {
  const { endpoints, history } = deps;
  const plan = planRules(deps);
  return {
    plan,
    ofApp: endpoints.ofApp,
    find: endpoints.find,
    withSecret: withSecret(deps),
    findDelivery: history.find,
    create: createWebhook({ ...deps, plan }),
    preview: previewWebhook(deps),
    update: updateWebhook(deps),
    remove: removeWebhook(deps),
    rotateSecret: rotateSecret(deps),
    test: testWebhook(deps),
    listDeliveries: listWebhookDeliveries(deps),
    replay: replayDelivery(deps),
    recover: recoverWebhook(deps),
    replayMany: replayMany(deps),
    health: healthOf(deps),
  };
};

const healthOf =
  ({ stats, clock }: Pick<WebhookUseCaseDeps, "stats" | "clock">) =>
  async ({ _id, status, failure_count }: WebhookRow): Promise<WebhookHealthReport> => ({
    status,
    failure_count,
    ...(await stats.summary(_id, clock.now())),
  });
