import type { Announcer } from "#core/queue/announce.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { countAside } from "#core/runtime/metrics/queue.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import { watchWebhookLevels } from "#core/runtime/metrics/webhooks.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { Mongo } from "#core/storage/mongo/connect.ts";
import { type TenantRow, tenantCollection } from "#core/storage/tenants/tenants.ts";
import { webhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import { webhookFailures } from "#core/storage/webhooks/failures.ts";
import { webhookStats } from "#core/storage/webhooks/stats.ts";
import { webhookCollection, webhookWork } from "#core/storage/webhooks/webhooks.ts";
import { namedLease } from "#core/storage/work/leases.ts";
import type { EndpointQueues, EndpointQueuesDeps } from "../share/endpoint-queues.ts";
import { type TestRequestsDeps, testRequests } from "../test-requests.ts";
import { healthCheck } from "./check.ts";
import { type OwnerMailsDeps, ownerMails } from "./owner-mails.ts";

export type SidePartsDeps = Omit<TestRequestsDeps, "subject" | "find" | "keep"> & {
  db: Mongo["db"];
  subjects: Subjects;
  announcer: Announcer;
  holder: string;
  publishHint: EndpointQueuesDeps["publishHint"];
  /** The server that takes mails to owners; null: nobody is mailed. */
  mail: OwnerMailsDeps["server"];
  metrics: Metrics<"dispatcher">;
};

/** What a dispatcher does for endpoints beside sending to them: tests, health and its mails, gauges. */
export const sideParts = (deps: SidePartsDeps, held: EndpointQueues): Part[] => {
  watchWebhookLevels(deps.metrics.registry, {
    endpointQueues: () => held.levels().held,
    inFlight: () => held.levels().inFlight,
  });
  return [
    testRequests({
      ...deps,
      subject: deps.subjects.webhookTests(),
      find: (id) => webhookWork(deps.db).rows.findOne({ _id: id }),
      keep: (row) => webhookDeliveries(deps.db).keep([row]),
    }),
    checking(deps),
  ];
};

const checkHoldMs = 180_000; // three passes: another process goes on after it

const checking = (deps: SidePartsDeps): Part => {
  const { db, holder, clock, announcer } = deps;
  const lease = namedLease(db, { name: "webhook-health", holder, leaseMs: checkHoldMs, clock });
  const mails = ownerMails({
    server: deps.mail,
    recipient: async (tenantId) => {
      const tenant = await collectionOf<TenantRow>(db, tenantCollection).findOne({ _id: tenantId });
      return tenant?.contact_email ?? null;
    },
    appName: async (appId) => (await collectionOf<AppRow>(db, appCollection).findOne({ _id: appId }))?.name ?? appId,
    lastErrorClass: async (id) => (await webhookStats(db).summary(id, clock.now())).last_day.last_error_class,
    log: deps.log,
  });
  const check = healthCheck({
    ...deps,
    failures: webhookFailures(db),
    mail: mails.mail,
    announce: ({ _id, app_id: appId }) => announcer.changed(webhookCollection.name, _id, appId),
    isOurs: async () => (await lease.extend()) || (await lease.take()) !== null,
    setAside: countAside(deps.metrics.queue, "webhook health"),
  });
  return {
    ...check,
    stop: async (signal) => {
      await check.stop(signal);
      mails.close();
      await lease.release();
    },
  };
};
