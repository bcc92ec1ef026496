import { randomBytes } from "node:crypto";
import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import { addressLookup } from "#core/runtime/http/address-lookup.ts";
import type { Resolve } from "#core/runtime/http/resolve.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { BodyTemplates } from "#core/runtime/templates/body-templates.ts";
import { templateProblem } from "#core/runtime/templates/engine.ts";
import type { WebhookHealthReport } from "#core/schema/webhooks/webhook.ts";
import { webhookEndpoints } from "#core/storage/webhooks/endpoints.ts";
import { webhookHistory } from "#core/storage/webhooks/history.ts";
import { type WebhookStats, webhookStats } from "#core/storage/webhooks/stats.ts";
import { type WebhookRow, webhookCollection, webhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Cursors } from "../http/pages.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { AllPlans } from "../limits/plan-rules.ts";
import { doorbell } from "../publishing/endpoint-hints.ts";
import type { LateNats } from "../publishing/late-nats.ts";
import type { Audit } from "../settings/audit.ts";
import { createWebhook, withSecret } from "./create.ts";
import type { WebhookDeps } from "./deps.ts";
import { listWebhookDeliveries } from "./list-deliveries.ts";
import { planRules } from "./plan.ts";
import { previewWebhook } from "./preview.ts";
import { recoverWebhook, replayMany } from "./recover.ts";
import { removeWebhook } from "./remove.ts";
import { replayDelivery } from "./replay.ts";
import { rotateSecret } from "./rotate-secret.ts";
import { testWebhook } from "./test.ts";
import { updateWebhook } from "./update.ts";

type WebhookPlatform = {
  db: Db;
  nats: Pick<LateNats, "publish" | "changed" | "ask">;
  subjects: Pick<Subjects, "webhook" | "webhookTests">;
  addresses: { guard: AddressGuard; resolve: Resolve };
  templates: Pick<BodyTemplates, "render">;
  secrets: KeyRing;
  limit: NarrowLimit;
  audit: Audit;
  plans: AllPlans;
  cursors: Cursors;
  clock: Clock;
  log: Log;
};

export type Webhooks = ReturnType<typeof webhookUseCases>;

/** What the operations on webhooks use. */
export const webhookUseCases = (platform: WebhookPlatform) => {
  const { db, nats, subjects, addresses, secrets, clock } = platform;
  const [endpoints, history] = [webhookEndpoints(db), webhookHistory(db)];
  const deps: WebhookDeps = {
    ...platform,
    endpoints,
    history,
    announce: ({ _id, app_id: appId }) => nats.changed(webhookCollection.name, _id, appId),
    ring: doorbell({ ...platform, publisher: nats }),
    wake: webhookWork(db).wake,
    seal: secrets.seal,
    unseal: secrets.open,
    addressProblem: addresses.guard.problemOf,
    reachProblem: addressLookup(addresses),
    templateProblem,
    newSecret: () => `whsec_${randomBytes(32).toString("base64")}`,
  };
  const askForTest = (id: string, timeoutMs: number) =>
    nats.ask(subjects.webhookTests(), { endpoint_id: id }, timeoutMs);
  const plan = planRules({ ...platform, endpoints });
  return {
    clock,
    plan,
    ofApp: endpoints.ofApp,
    find: endpoints.find,
    withSecret: withSecret(deps),
    findDelivery: history.find,
    create: createWebhook({ ...deps, plan }),
    preview: previewWebhook({ ...platform }),
    update: updateWebhook(deps),
    remove: removeWebhook(deps),
    rotateSecret: rotateSecret(deps),
    test: testWebhook({ ...deps, askForTest }),
    listDeliveries: listWebhookDeliveries({ ...platform, history }),
    replay: replayDelivery(deps),
    recover: recoverWebhook(deps),
    replayMany: replayMany(deps),
    health: healthOf({ stats: webhookStats(db), clock }),
  };
};

const healthOf =
  ({ stats, clock }: { stats: Pick<WebhookStats, "summary">; clock: Clock }) =>
  async ({ _id, status, failure_count }: WebhookRow): Promise<WebhookHealthReport> => ({
    status,
    failure_count,
    ...(await stats.summary(_id, clock.now())),
  });
