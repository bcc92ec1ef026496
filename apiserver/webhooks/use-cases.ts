import type { Db } from "mongodb";
import type { Partitioning } from "#core/domain/webhooks/partitions.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import { addressLookup } from "#core/runtime/http/address-lookup.ts";
import type { Resolve } from "#core/runtime/http/resolve.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { BodyTemplates } from "#core/runtime/templates/body-templates.ts";
import { templateProblem } from "#core/runtime/templates/engine.ts";
import type { CreateWebhook, WebhookHealthReport, WebhookWithSecret } from "#core/schema/webhooks/webhook.ts";
import type { AppSettings } from "#core/storage/settings/app-settings.ts";
import { mostEndpoints, webhookEndpoints } from "#core/storage/webhooks/endpoints.ts";
import { webhookHistory } from "#core/storage/webhooks/history.ts";
import { endpointPlaces } from "#core/storage/webhooks/places.ts";
import { webhookStats } from "#core/storage/webhooks/stats.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { removals, webhookRemoval } from "#core/storage/work/removals.ts";
import type { Cursors } from "../http/pages.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { LateNats } from "../publishing/late-nats.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { type Setting, type SettingsPlatform, settings as settingsOf } from "../settings/settings.ts";
import { checkWebhook } from "./checks.ts";
import { createWebhook } from "./create.ts";
import { listWebhookDeliveries } from "./deliveries/list.ts";
import { recoverWebhook, replayMany } from "./deliveries/recover.ts";
import { replayDelivery } from "./deliveries/replay.ts";
import { previewWebhook } from "./preview.ts";
import { rotateSecret, secretPlace } from "./secret.ts";
import { testWebhook } from "./test.ts";
import { updateWebhook } from "./update.ts";
import { webhookView } from "./views.ts";

type WebhookPlatform = SettingsPlatform & {
  db: Db;
  nats: Pick<LateNats, "ask">;
  subjects: Pick<Subjects, "webhookTests">;
  partitioning: Pick<Partitioning, "placeOf">;
  addresses: { guard: AddressGuard; resolve: Resolve };
  templates: Pick<BodyTemplates, "render">;
  secrets: KeyRing;
  limit: NarrowLimit;
  cursors: Cursors;
  log: Log;
};

export type Webhooks = ReturnType<typeof webhookUseCases>;

/** Endpoints as something that apps are set up with. */
export const webhookSetting = (store: AppSettings<WebhookRow>) =>
  ({
    what: "webhook",
    store,
    isBeforeEvents: true,
    view: webhookView,
    plan: {
      feature: "webhooks",
      metric: "webhook_endpoints",
      most: mostEndpoints,
      ofPlan: ({ webhook_endpoints: most }) => most,
    },
  }) satisfies Setting<WebhookRow>;

/** What the operations on webhooks use. */
export const webhookUseCases = (platform: WebhookPlatform) => {
  const { db, addresses, secrets, clock } = platform;
  const [endpoints, history, stats] = [webhookEndpoints(db), webhookHistory(db), webhookStats(db)];
  const settings = settingsOf(platform, webhookSetting(endpoints));
  const deps = {
    ...platform,
    endpoints,
    history,
    places: endpointPlaces(db, platform.partitioning),
    settings,
    announce: settings.announce,
    addressProblem: addresses.guard.problemOf,
    reachProblem: addressLookup(addresses),
    templateProblem,
  };
  return {
    ...settings,

    /** With its secret, for who made it or gave it a new one. */
    viewMade: (row: WebhookRow): WebhookWithSecret => ({
      ...settings.view(row),
      secret: secrets.open(row.secret, secretPlace(row._id)),
    }),

    check: (body: CreateWebhook): void => checkWebhook(deps, { ...body, ...body.event_filters }),
    create: createWebhook(deps),
    update: updateWebhook(deps),

    /** Its deliveries go afterwards. @throws AppError HS_MANAGED when a resource enforces it */
    remove: async (by: By, found: WebhookRow): Promise<void> => {
      requireUnmanaged("webhook", found);
      await removals(db).begin(webhookRemoval(found, clock.now()));
      await settings.remove(by, found);
    },

    rotateSecret: rotateSecret(deps),
    preview: previewWebhook(deps),
    test: testWebhook(deps),
    findDelivery: history.find,
    listDeliveries: listWebhookDeliveries(deps),
    replay: replayDelivery(deps),
    recover: recoverWebhook(deps),
    replayMany: replayMany(deps),

    health: async ({ _id, status, failure_count }: WebhookRow): Promise<WebhookHealthReport> => ({
      status,
      failure_count,
      ...(await stats.summary(_id, clock.now())),
    }),
  };
};
