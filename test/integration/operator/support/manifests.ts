import { createECDH, generateKeyPairSync } from "node:crypto";
import type { Installation, Manifest } from "./harness.ts";

const apiVersion = "herald.dev/v1alpha1";

/** Builders of the resources of one tenant in one namespace; names carry the installation's id, for they are shared. */
export const manifests = ({ id }: Pick<Installation, "id">, namespace = `${id}-a`) => ({
  namespace: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } } satisfies Manifest,
  plan: (spec: object = {}, name = `${id}-plan`): Manifest => ({
    apiVersion,
    kind: "Plan",
    metadata: { name },
    spec: {
      title: "Test",
      apiRps: 1_000, // the tests ask as fast as answers come
      webhookEndpoints: 5,
      retentionDays: 30,
      features: ["webhooks", "live_activities"],
      ...spec,
    },
  }),
  tenant: (spec: object = {}, name = `${id}-tenant`): Manifest => ({
    apiVersion,
    kind: "Tenant",
    metadata: { name },
    spec: { plan: `${id}-plan`, namespaces: [namespace], ...spec },
  }),
  app: (spec: object = {}, name = "shop"): Manifest => ({
    apiVersion,
    kind: "App",
    metadata: { name, namespace },
    spec: { timeZone: "Europe/Berlin", channels: { ios }, ...spec },
  }),
  apiKey: (spec: object = {}, name = "backend"): Manifest => ({
    apiVersion,
    kind: "ApiKey",
    metadata: { name, namespace },
    spec: { appRefs: ["shop"], scopes: ["admin"], connectionSecretName: `${name}-connection`, ...spec },
  }),
  webhook: (spec: object = {}, name = "events"): Manifest => ({
    apiVersion,
    kind: "Webhook",
    metadata: { name, namespace },
    spec: {
      appRef: "shop",
      url: "https://hooks.example/a",
      events: ["delivery.sent"],
      secretName: `${name}-signing`,
      ...spec,
    },
  }),
  activityType: (spec: object = {}, name = "order"): Manifest => ({
    apiVersion,
    kind: "LiveActivityType",
    metadata: { name, namespace },
    spec: {
      appRef: "shop",
      name: "OrderAttributes",
      contentStateSchema: { type: "object", properties: { status: { type: "string" } }, required: ["status"] },
      ...spec,
    },
  }),
  segment: (spec: object = {}, name = "active"): Manifest => ({
    apiVersion,
    kind: "Segment",
    metadata: { name, namespace },
    spec: {
      appRef: "shop",
      name: "Active",
      filter: { all: [{ field: "tags.plan", op: "eq", value: "gold" }] },
      ...spec,
    },
  }),
  template: (spec: object = {}, name = "welcome"): Manifest => ({
    apiVersion,
    kind: "Template",
    metadata: { name, namespace },
    spec: { appRef: "shop", name: "Welcome", content: { contents: { en: "Hello {{ user.tags.name }}" } }, ...spec },
  }),
  inAppMessage: (spec: object = {}, name = "hello"): Manifest => ({
    apiVersion,
    kind: "InAppMessage",
    metadata: { name, namespace },
    spec: {
      appRef: "shop",
      name: "Hello",
      variants: [{ id: "a", weight_percent: 100, content: { layout: "banner", body: { en: "Hello" } } }],
      ...spec,
    },
  }),
  lake: (spec: object = {}, name = "lake"): Manifest => ({
    apiVersion,
    kind: "WarehouseExport",
    metadata: { name, namespace },
    spec: {
      appRef: "shop",
      name: "Lake",
      destination: { bucket: "acme-lake", secretRef: { name: "lake" } },
      datasets: ["deliveries"],
      ...spec,
    },
  }),
  configMap: (name: string, data: Record<string, string>): Manifest => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace },
    data,
  }),
  incident: (spec: object = {}, name = "late"): Manifest => ({
    apiVersion,
    kind: "Incident",
    metadata: { name: `${id}-${name}` },
    spec: {
      title: "Pushes are late",
      severity: "minor",
      components: ["delivery"],
      updates: [{ at: "2026-11-23T09:00:00Z", status: "investigating", message: "We are looking into it." }],
      ...spec,
    },
  }),
  secret: (name: string, stringData: Record<string, string>): Manifest => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
    stringData,
  }),
  iosSecret: (pem = apnsKey()): Manifest => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "ios", namespace },
    stringData: { private_key: pem },
  }),
});

export const ios = {
  teamId: "TEAM123456",
  keyId: "KEY1234567",
  bundleId: "com.example.shop",
  secretRef: { name: "ios" },
};

export const apnsKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();

export const rsaKey = (): string =>
  generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();

export const vapidKey = (): string => {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  return pair.getPrivateKey("base64url").padStart(43, "A");
};

export const serviceAccount = (): string =>
  JSON.stringify({
    type: "service_account",
    project_id: "shop",
    client_email: "push@shop.example",
    token_uri: "https://oauth2.googleapis.com/token",
    private_key: rsaKey(),
  });

export const textOf = (seen: { data?: Record<string, string> } | null, key: string): string =>
  Buffer.from(seen?.data?.[key] ?? "", "base64").toString("utf8");
