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
import { webhookEndpoints } from "#core/storage/webhooks/endpoints.ts";
import { webhookHistory } from "#core/storage/webhooks/history.ts";
import { webhookStats } from "#core/storage/webhooks/stats.ts";
import { webhookCollection, webhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Cursors } from "../http/pages.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { AllPlans } from "../limits/plan-rules.ts";
import { doorbell } from "../publishing/endpoint-hints.ts";
import type { LateNats } from "../publishing/late-nats.ts";
import type { Audit } from "../settings/audit.ts";
import { type WebhookUseCases, webhookUseCases } from "./use-cases.ts";

export type WebhookWiringDeps = {
  db: Db;
  nats: Pick<LateNats, "publish" | "changed" | "ask">;
  subjects: Pick<Subjects, "webhook" | "webhookTests">;
  guard: AddressGuard;
  resolve: Resolve;
  templates: Pick<BodyTemplates, "render">;
  seal: KeyRing["seal"];
  unseal: KeyRing["open"];
  limit: NarrowLimit;
  audit: Audit;
  plans: AllPlans;
  cursors: Cursors;
  clock: Clock;
  log: Log;
};

/** Puts the use cases of webhooks together with the stores and with NATS. */
export const webhookWiring = (deps: WebhookWiringDeps): WebhookUseCases => {
  const { db, nats, subjects, guard } = deps;
  return webhookUseCases({
    ...deps,
    endpoints: webhookEndpoints(db),
    history: webhookHistory(db),
    stats: webhookStats(db),
    announce: ({ _id, app_id: appId }) => nats.changed(webhookCollection.name, _id, appId),
    ring: doorbell({ ...deps, publisher: nats }),
    wake: webhookWork(db).makeDue,
    askForTest: (id, timeoutMs) => nats.ask(subjects.webhookTests(), { endpoint_id: id }, timeoutMs),
    addressProblem: guard.problemOf,
    reachProblem: addressLookup(deps),
    templateProblem,
    newSecret: () => `whsec_${randomBytes(32).toString("base64")}`,
  });
};
