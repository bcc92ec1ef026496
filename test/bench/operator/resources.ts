import type { Manifest } from "../../integration/operator/support/harness.ts";
import { apnsKey, ios } from "../../integration/operator/support/manifests.ts";

/** A resource, or what it needs, as it is posted: the path of its collection and the object. */
export type Posted = { path: string; body: Manifest };

/** The kinds, by the last part of their path, and the change that is made to one of them: a new value of one member. */
export const changes: Record<string, (value: string) => object> = {
  plans: (value) => ({ title: value }),
  tenants: (value) => ({ contact: { email: `${value}@example.com` } }),
  apps: (value) => ({ displayName: value }),
  apikeys: (value) => ({ displayName: value }),
  webhooks: (value) => ({ description: value }),
  liveactivitytypes: (value) => ({ description: value }),
};

const group = "/apis/herald.dev/v1alpha1";
const apiVersion = "herald.dev/v1alpha1";
const plans = 4;
const appsEach = 5;

/** What the resources live in and read: a namespace and a Secret for each tenant. `prefix` begins each shared name. */
export const surroundings = (count: number, prefix = "bench"): Posted[][] => {
  const private_key = apnsKey();
  const namespaces = namespacesOf(count, prefix);
  return [
    namespaces.map((name) => ({
      path: "/api/v1/namespaces",
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name } },
    })),
    namespaces.map((namespace) => ({
      path: `/api/v1/namespaces/${namespace}/secrets`,
      body: { apiVersion: "v1", kind: "Secret", metadata: { name: "ios", namespace }, stringData: { private_key } },
    })),
  ];
};

/** `count` resources of all kinds, each list after what it refers to: of 10,000, 500 are tenants with five apps each. */
export const resources = (count: number, prefix = "bench"): Posted[][] => {
  const namespaces = namespacesOf(count, prefix);
  const inNamespaces = namespaces.flatMap((namespace) =>
    Array.from({ length: appsEach }, (_, n) => ({ namespace, n })),
  );
  const all = [
    Array.from({ length: plans }, (_, n) => plan(`${prefix}-plan-${n}`)),
    namespaces.map((namespace, n) => tenant(namespace, `${prefix}-plan-${n % plans}`)),
    inNamespaces.map(({ namespace, n }) => app(namespace, n)),
    inNamespaces.map(({ namespace, n }) => apiKey(namespace, n)),
    inNamespaces.map(({ namespace, n }) => webhook(namespace, n)),
  ];
  const left = count - all.flat().length;
  return [...all, inNamespaces.slice(0, left).map(({ namespace, n }) => activityType(namespace, n))];
};

const namespacesOf = (count: number, prefix: string): string[] =>
  Array.from({ length: count / 20 }, (_, n) => `${prefix}-${String(n).padStart(3, "0")}`);

const plan = (name: string): Posted => ({
  path: `${group}/plans`,
  body: {
    apiVersion,
    kind: "Plan",
    metadata: { name },
    spec: {
      title: "Bench",
      apiRps: 10,
      webhookEndpoints: 5,
      retentionDays: 30,
      features: ["webhooks", "live_activities"],
    },
  },
});

const tenant = (namespace: string, planName: string): Posted => ({
  path: `${group}/tenants`,
  body: {
    apiVersion,
    kind: "Tenant",
    metadata: { name: namespace },
    spec: { plan: planName, namespaces: [namespace], contact: { email: "owner@example.com" } },
  },
});

const namespaced = (kind: string, namespace: string, name: string, spec: object): Posted => ({
  path: `${group}/namespaces/${namespace}/${kind.toLowerCase()}s`,
  body: { apiVersion, kind, metadata: { name, namespace }, spec },
});

const app = (namespace: string, n: number): Posted =>
  namespaced("App", namespace, `app-${n}`, { timeZone: "Europe/Berlin", channels: { ios } });

const apiKey = (namespace: string, n: number): Posted =>
  namespaced("ApiKey", namespace, `key-${n}`, {
    appRefs: [`app-${n}`],
    scopes: ["admin"],
    connectionSecretName: `key-${n}-connection`,
  });

const webhook = (namespace: string, n: number): Posted =>
  namespaced("Webhook", namespace, `hook-${n}`, {
    appRef: `app-${n}`,
    url: `https://hooks.example/${namespace}/${n}`,
    events: ["delivery.sent", "delivery.failed"],
    secretName: `hook-${n}-signing`,
    headers: [{ name: "x-tenant", value: namespace }],
  });

const activityType = (namespace: string, n: number): Posted =>
  namespaced("LiveActivityType", namespace, `type-${n}`, {
    appRef: `app-${n}`,
    name: "OrderAttributes",
    contentStateSchema: {
      type: "object",
      properties: { status: { type: "string", maxLength: 40 }, minutes: { type: "integer", minimum: 0 } },
      required: ["status"],
    },
  });
