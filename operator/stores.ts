import type { ApiKeySpec } from "#core/schema/resources/api-key.ts";
import type { AppSpec } from "#core/schema/resources/app.ts";
import type { LiveActivityTypeSpec } from "#core/schema/resources/live-activity-type.ts";
import type { PlanSpec } from "#core/schema/resources/plan.ts";
import type { TenantSpec } from "#core/schema/resources/tenant.ts";
import type { WebhookSpec } from "#core/schema/resources/webhook.ts";
import { idOf } from "./controllers/common.ts";
import { type KubeObject, keyFrom, type Resource } from "./kube/objects.ts";
import { objectStore } from "./kube/store.ts";
import { secretNamesOf } from "./policies/credentials.ts";
import { headerSecretsOf } from "./policies/webhook-headers.ts";

/** What the operator has seen of each kind, indexed by what a resource depends on. */
export const makeStores = () => ({
  plans: objectStore<Resource<PlanSpec>>(),
  tenants: objectStore<Resource<TenantSpec>>({
    plan: ({ spec }) => [spec.plan],
    namespace: ({ spec }) => spec.namespaces,
  }),
  apps: objectStore<Resource<AppSpec>>({
    namespace: inNamespace,
    secret: (app) => secretNamesOf(app.spec).map((name) => beside(app, name)),
  }),
  apiKeys: objectStore<Resource<ApiKeySpec>>({
    namespace: inNamespace,
    app: (key) => (key.spec.appRefs ?? []).map((name) => beside(key, name)),
    secret: (key) => [beside(key, key.spec.connectionSecretName)],
  }),
  webhooks: objectStore<Resource<WebhookSpec>>({
    app: (webhook) => [beside(webhook, webhook.spec.appRef)],
    endpoint: (webhook) => [idOf("webhook", webhook)],
    secret: (webhook) =>
      [webhook.spec.secretName, ...headerSecretsOf(webhook.spec)].map((name) => beside(webhook, name)),
  }),
  liveActivityTypes: objectStore<Resource<LiveActivityTypeSpec>>({
    app: (type) => [beside(type, type.spec.appRef)],
  }),
  secrets: objectStore<KubeObject>(),
});

export type Stores = ReturnType<typeof makeStores>;
export type KindName = Exclude<keyof Stores, "secrets">;

const inNamespace = ({ metadata }: KubeObject): string[] =>
  metadata.namespace === undefined ? [] : [metadata.namespace];

/** Key of another object in the same namespace. */
const beside = ({ metadata }: KubeObject, name: string): string => keyFrom(metadata.namespace, name);
