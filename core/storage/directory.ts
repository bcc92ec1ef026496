import type { Db } from "mongodb";
import type { Clock } from "../domain/clock.ts";
import { type AppRow, appCollection } from "./apps/apps.ts";
import { type CollectionSpec, collectionOf } from "./mongo/collection.ts";
import { type PlanRow, planCollection } from "./plans/plans.ts";
import { cached } from "./settings/cached.ts";
import { type TenantRow, tenantCollection } from "./tenants/tenants.ts";
import { type WebhookRow, webhookCollection } from "./webhooks/webhooks.ts";

export type Directory = ReturnType<typeof directory>;

/** Announces that a document changed, and of which app, where that is known; `*` stands for any collection or id. */
export type Changes = { on: (listener: (collection: string, id: string, appId?: string) => void) => void };

/** Configuration for the data path: at most 60 s old, and dropped in well under a second by an announcement. */
export const directory = ({ db, changes, clock }: { db: Db; changes: Changes; clock: Clock }) => {
  const byId = <Row extends { _id: string }>(spec: CollectionSpec) => {
    const rows = collectionOf<Row>(db, spec);
    return cached({ load: (id) => rows.findOne({ _id: id } as object) as Promise<Row | null>, ...bounds, clock });
  };
  const webhooks = collectionOf<WebhookRow>(db, webhookCollection);
  const apps = byId<AppRow>(appCollection);
  const tenants = byId<TenantRow>(tenantCollection);
  const plans = byId<PlanRow>(planCollection);
  const endpoints = cached({
    load: (appId) => webhooks.find({ app_id: appId }, { hint: "app" }).toArray(),
    ...bounds,
    clock,
  });
  const kept = [
    [appCollection, apps],
    [tenantCollection, tenants],
    [planCollection, plans],
  ] as const;
  changes.on((collection, id, appId) => {
    for (const [spec, cache] of kept) {
      if (collection === "*" || (collection === spec.name && id === "*")) cache.clear();
      else if (collection === spec.name) cache.drop(id);
    }
    if (collection !== "*" && collection !== webhookCollection.name) return;
    if (appId === undefined)
      endpoints.clear(); // an endpoint that is named alone may be any app's
    else endpoints.drop(appId);
  });
  return {
    app: apps.get,
    tenant: tenants.get,
    plan: plans.get,
    /** Disabled ones, too: what they miss is kept for `recover`. */
    webhooksOf: endpoints.get,
    /** Has those of an app read again. */
    forgetWebhooksOf: endpoints.drop,
  };
};

// docs/reference/requests.md#configuration-changes; 10,000 apps are some 20 MB
const bounds = { ttlMs: 60_000, max: 10_000 };
