import type { Clock } from "#core/domain/clock.ts";
import { type ApiKeySpec, apiKeyResource } from "#core/schema/api-keys/resource.ts";
import { type AppSpec, appResource } from "#core/schema/apps/resource.ts";
import { type WebhookSpec, type WebhookStatus, webhookResource } from "#core/schema/webhooks/resource.ts";
import type { HealthWindow } from "#core/schema/webhooks/webhook.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ManagedRows } from "#core/storage/settings/managed.ts";
import type { Tenants } from "#core/storage/tenants/tenants.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Handler } from "../engine/reconcile.ts";
import { unlessUnchanged } from "../engine/unchanged.ts";
import { type KubeObject, keyFrom, type Resource } from "../kube/objects.ts";
import type { Store } from "../kube/store.ts";
import { secretNamesOf } from "../policies/apps/credentials.ts";
import { idOf } from "../policies/management.ts";
import { headerSecretsOf } from "../policies/webhooks/headers.ts";
import { healthStatus } from "../policies/webhooks/health.ts";
import { type AppRefDeps, appOf } from "../records/app-ref.ts";

export type InputsDeps = AppRefDeps & {
  apps: Pick<ManagedRows<AppRow>, "find">;
  keys: Pick<ManagedRows<ApiKeyRow>, "find">;
  webhooks: Pick<ManagedRows<WebhookRow>, "find">;
  tenants: Pick<Tenants, "holding">;
  /** Metadata of every Secret. */
  secretStore: Pick<Store<KubeObject>, "get">;
  lastHour: (endpointId: string, now: Date) => Promise<HealthWindow>;
  clock: Clock;
};

/** The kinds of which a pass reads Secrets. */
type Readers = {
  apps: Handler<Resource<AppSpec>>;
  apiKeys: Handler<Resource<ApiKeySpec>>;
  webhooks: Handler<Resource<WebhookSpec, WebhookStatus>>;
};

/** The handlers, spared the passes whose inputs are unchanged where a pass reads Secrets. */
export const sparing = <H extends Readers>(handlers: H, deps: InputsDeps): H => {
  const { app, apiKey, webhook } = inputs(deps);
  const { clock } = deps;
  return {
    ...handlers,
    apps: unlessUnchanged(handlers.apps, { inputsOf: app, clock }),
    apiKeys: unlessUnchanged(handlers.apiKeys, { inputsOf: apiKey, clock }),
    webhooks: unlessUnchanged(handlers.webhooks, { inputsOf: webhook, clock }),
  };
};

/**
 * What decides a pass over each of these kinds, besides the resource itself. Other resources decide only who may have
 * what is free, or adopt what is nobody's (policies/management.ts): who has a record and its name keeps both.
 */
const inputs = (deps: InputsDeps) => {
  const { apps, keys, webhooks, tenants, lastHour, clock } = deps;
  const ownerOf = ({ metadata }: Resource) => tenants.holding([metadata.namespace ?? ""]);
  const secretsOf = (resource: Resource, names: readonly string[]): (readonly string[] | null)[] =>
    names.map((name) => versionOf(deps.secretStore.get(keyFrom(resource.metadata.namespace, name))));
  return {
    app: async (app: Resource<AppSpec>): Promise<unknown[]> => [
      secretsOf(app, secretNamesOf(app.spec)),
      ...(await Promise.all([apps.find(idOf(appResource, app)), ownerOf(app)])),
    ],
    apiKey: async (key: Resource<ApiKeySpec>): Promise<unknown[]> => [
      secretsOf(key, [key.spec.connectionSecretName]),
      ...(await Promise.all([keys.find(idOf(apiKeyResource, key)), ownerOf(key)])),
      ...(await Promise.all((key.spec.appRefs ?? []).map((name) => appOf(deps, key, name)))), // at most 50, by its schema
    ],
    webhook: async (webhook: Resource<WebhookSpec, WebhookStatus>): Promise<unknown[]> => {
      const { spec, status } = webhook;
      const now = clock.now();
      const id = idOf(webhookResource, webhook);
      const versions = secretsOf(webhook, [spec.secretName, ...headerSecretsOf(spec)]);
      const read = [webhooks.find(id), appOf(deps, webhook, spec.appRef), lastHour(id, now)] as const;
      const [row, app, hour] = await Promise.all(read);
      const isOver = row?.previous_secret != null && row.previous_secret.expires_at <= now;
      return [versions, row && ownMembers(row), app, healthStatus(hour, status?.health, now), isOver];
    },
  };
};

const versionOf = (secret: KubeObject | undefined): readonly string[] | null =>
  secret === undefined ? null : [secret.metadata.uid, secret.metadata.resourceVersion];

/** Without what dispatchers write of an endpoint while it is in use, and no pass looks at. */
const ownMembers = (row: WebhookRow): [string, unknown][] =>
  Object.entries(row).filter(([member]) => !ofDispatchers.has(member));

const ofDispatchers: ReadonlySet<string> = new Set<keyof WebhookRow>([
  "due_at",
  "lease",
  "fence",
  "due_changes",
  "recovery",
  "failure_count",
  "streak_since",
  "last_success_at",
  "last_failure_at",
  "updated_at",
]);
