import type { ApiKeySpec } from "#core/schema/api-keys/resource.ts";
import type { AppSpec } from "#core/schema/apps/resource.ts";
import type { LiveActivityTypeSpec } from "#core/schema/live-activities/resource.ts";
import { type PlanSpec, planResource } from "#core/schema/plans/resource.ts";
import type { TenantSpec } from "#core/schema/tenants/resource.ts";
import { type WebhookSpec, type WebhookStatus, webhookResource } from "#core/schema/webhooks/resource.ts";
import { appNameOf } from "../kinds/app.ts";
import { typeNameOf } from "../kinds/live-activity-type.ts";
import { type KubeObject, keyFrom, type Resource } from "../kube/objects.ts";
import { objectStore } from "../kube/store.ts";
import { secretNamesOf } from "../policies/apps/credentials.ts";
import { type Claimant, idOf } from "../policies/management.ts";
import { headerSecretsOf } from "../policies/webhooks/headers.ts";

/** What the operator has seen of each kind, indexed by what a resource depends on. */
export const makeStores = () => ({
  plans: objectStore<Resource<PlanSpec, Status>>({ external: (plan) => [idOf(planResource, plan)] }),
  tenants: objectStore<Resource<TenantSpec, Status>>({
    external,
    name: ({ metadata, spec }) => [spec.displayName ?? metadata.name],
    plan: ({ spec }) => [spec.plan],
    namespace: ({ spec }) => spec.namespaces,
  }),
  apps: objectStore<Resource<AppSpec, Status>>({
    external,
    name: (app) => [appNameOf(app)],
    namespace: inNamespace,
    secret: (app) => secretNamesOf(app.spec).map((name) => beside(app, name)),
  }),
  apiKeys: objectStore<Resource<ApiKeySpec, Status>>({
    external,
    namespace: inNamespace,
    app: (key) => (key.spec.appRefs ?? []).map((name) => beside(key, name)),
    secret: (key) => [beside(key, key.spec.connectionSecretName)],
  }),
  webhooks: objectStore<Resource<WebhookSpec, WebhookStatus>>({
    external,
    app: (webhook) => [beside(webhook, webhook.spec.appRef)],
    endpoint: (webhook) => [idOf(webhookResource, webhook)],
    secret: (webhook) =>
      [webhook.spec.secretName, ...headerSecretsOf(webhook.spec)].map((name) => beside(webhook, name)),
  }),
  liveActivityTypes: objectStore<Resource<LiveActivityTypeSpec, Status>>({
    external,
    name: (type) => [typeNameOf(type)],
    app: (type) => [beside(type, type.spec.appRef)],
  }),
  secrets: objectStore<KubeObject>(),
});

export type Stores = ReturnType<typeof makeStores>;
export type KindName = Exclude<keyof Stores, "secrets">;

type Status = { id?: string };

/** The record that a resource names. */
const external = ({ spec }: Claimant): string[] => (spec.externalName === undefined ? [] : [spec.externalName]);

const inNamespace = ({ metadata }: KubeObject): string[] =>
  metadata.namespace === undefined ? [] : [metadata.namespace];

/** Key of another object in the same namespace. */
const beside = ({ metadata }: KubeObject, name: string): string => keyFrom(metadata.namespace, name);
