import { countAside } from "#core/runtime/metrics/queue.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { Mongo } from "#core/storage/mongo/connect.ts";
import { type TenantRow, tenantCollection } from "#core/storage/tenants/tenants.ts";
import { webhookFailures } from "#core/storage/webhooks/failures.ts";
import { webhookStats } from "#core/storage/webhooks/stats.ts";
import { type HealthCheckDeps, healthCheck } from "./check.ts";
import { type OwnerMailsDeps, ownerMails } from "./owner-mails.ts";

export type HealthPartDeps = Pick<HealthCheckDeps, "endpoints" | "isOurs" | "isElsewhere" | "clock" | "log"> & {
  db: Mongo["db"];
  /** The server that takes mails to owners; null: nobody is mailed. */
  mail: OwnerMailsDeps["server"];
  metrics: Metrics<"dispatcher">;
};

/** Checks the health of endpoints, in one process at a time, and mails their owners. */
export const healthPart = (deps: HealthPartDeps): Part => {
  const { db, metrics } = deps;
  const mails = ownerMails({ ...mailFacts(deps), server: deps.mail, log: deps.log });
  const check = healthCheck({
    ...deps,
    failures: webhookFailures(db),
    mail: mails.mail,
    setAside: countAside(metrics.queue, "webhook health"),
  });
  return {
    ...check,
    stop: async (signal) => {
      await check.stop(signal);
      mails.close();
    },
  };
};

const mailFacts = ({ db, clock }: HealthPartDeps): Omit<OwnerMailsDeps, "server" | "log"> => ({
  recipient: async (tenantId) => {
    const tenant = await collectionOf<TenantRow>(db, tenantCollection).findOne({ _id: tenantId });
    return tenant?.contact_email ?? null;
  },
  appName: async (appId) => (await collectionOf<AppRow>(db, appCollection).findOne({ _id: appId }))?.name ?? appId,
  lastErrorClass: async (id) => (await webhookStats(db).summary(id, clock.now())).last_day.last_error_class,
});
