import { customResourceDefinition } from "#core/schema/kubernetes/crd.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import { accountCases } from "../kinds/account-cases.ts";
import { webhookCases } from "../kinds/webhook-cases.ts";
import type { Manifest } from "../support/harness.ts";
import type { manifests } from "../support/manifests.ts";

/** What the API server refuses by a CRD alone, and what it says. */
export type CrdCase = { it: string; object: () => Manifest; says: string };

export const crdCases = (make: () => ReturnType<typeof manifests>): CrdCase[] => [
  { it: "a plan whose name has a dot", object: () => make().plan({}, "with.dot"), says: "without dots" },
  { it: "a plan with no requests", object: () => make().plan({ apiRps: 0 }), says: "spec.apiRps" },
  {
    it: "a plan with an unknown feature",
    object: () => make().plan({ features: ["telepathy"] }),
    says: "Unsupported value",
  },
  {
    it: "a plan with a feature twice",
    object: () => make().plan({ features: ["exports", "exports"] }),
    says: "Duplicate",
  },
  { it: "a plan without a title", object: () => make().plan({ title: undefined }), says: "spec.title: Required" },
  { it: "a tenant without a namespace", object: () => make().tenant({ namespaces: [] }), says: "spec.namespaces" },
  {
    it: "a reason without a suspension",
    object: () => make().tenant({ suspendedReason: "x" }),
    says: "needs suspended: true",
  },
  { it: "an incident of nothing", object: () => make().incident({ components: [] }), says: "spec.components" },
  {
    it: "an incident of something else",
    object: () => make().incident({ components: ["coffee"] }),
    says: "Unsupported value",
  },
  { it: "an incident that says nothing", object: () => make().incident({ updates: [] }), says: "spec.updates" },
  { it: "a key without a scope", object: () => make().apiKey({ scopes: [] }), says: "spec.scopes" },
  { it: "a key with an unknown scope", object: () => make().apiKey({ scopes: ["root"] }), says: "Unsupported value" },
  { it: "a key that expires at no time", object: () => make().apiKey({ expiresAt: "soon" }), says: "date-time" },
  { it: "a key for no app", object: () => make().apiKey({ appRefs: [] }), says: "spec.appRefs" },
  { it: "an ftp webhook", object: () => make().webhook({ url: "ftp://a.example" }), says: "spec.url" },
  { it: "a webhook without a host", object: () => make().webhook({ url: "https://" }), says: "with a host" },
  {
    it: "a webhook with a password",
    object: () => make().webhook({ url: "https://u:p@a.example/" }),
    says: "user or password",
  },
  { it: "a webhook for no event", object: () => make().webhook({ events: [] }), says: "spec.events" },
  {
    it: "a webhook for the test event",
    object: () => make().webhook({ events: ["webhook.test"] }),
    says: "Unsupported value",
  },
  {
    it: "a type with a name that is a word of the path",
    object: () => make().activityType({ name: "types" }),
    says: "name must not be one of",
  },
  {
    it: "a segment of kind filter without one",
    object: () => make().segment({ filter: undefined }),
    says: "filter is needed",
  },
  {
    it: "a warehouse export with a compression of what is gzip",
    object: () => make().lake({ compression: "zstd" }),
    says: "compression is only of the format parquet",
  },
  {
    it: "a destination with a key of KMS and without KMS",
    object: () => make().lake({ destination: { bucket: "acme-lake", kmsKeyId: "k", secretRef: { name: "lake" } } }),
    says: "kmsKeyId needs sse aws:kms",
  },
  {
    it: "a bucket of S3 without its name",
    object: () => make().lake({ destination: { secretRef: { name: "lake" } } }),
    says: "need bucket",
  },
  {
    it: "a container of Azure without its account",
    object: () => make().lake({ destination: { type: "azure_blob", container: "lake", secretRef: { name: "lake" } } }),
    says: "azure_blob needs account and container",
  },
  {
    it: "a bucket of Google with a region",
    object: () =>
      make().lake({ destination: { type: "gcs", bucket: "acme-lake", region: "eu", secretRef: { name: "lake" } } }),
    says: "only of s3",
  },
  ...[
    { type: "bigquery", has: { dataset: "m" }, says: "bigquery needs projectId and dataset" },
    { type: "snowflake", has: { database: "d", schema: "m" }, says: "snowflake needs database, schema and stage" },
    { type: "redshift", has: { schema: "m" }, says: "redshift needs database and schema" },
    { type: "databricks", has: { schema: "m" }, says: "databricks needs catalog and schema" },
  ].map(({ type, has, says }) => ({
    it: `a warehouse of the type ${type} without what it needs`,
    object: () => make().lake({ warehouse: { type, ...has }, format: "parquet" }),
    says,
  })),
  {
    it: "a warehouse with files that it does not read",
    object: () => make().lake({ warehouse: { type: "redshift", database: "dev", schema: "m" } }),
    says: "warehouses read the format parquet",
  },
  {
    it: "names of events that are not exported",
    object: () => make().lake({ eventNames: ["order.paid"] }),
    says: "eventNames narrows the dataset events, which is not exported",
  },
  { it: "a dataset that is not there", object: () => make().lake({ datasets: ["opens"] }), says: "spec.datasets[0]" },
  { it: "a list with a filter", object: () => make().segment({ kind: "list" }), says: "must be left out for a list" },
  { it: "a segment's filter that is a text", object: () => make().segment({ filter: "all" }), says: "spec.filter" },
  { it: "an in-app message that says nothing", object: () => make().inAppMessage({ variants: [] }), says: "variants" },
  { it: "a template that says nothing", object: () => make().template({ content: undefined }), says: "is needed" },
  {
    it: "a template's text from a ConfigMap for a member that is none",
    object: () =>
      make().template({ contentFrom: [{ member: "headings.en", configMapKeyRef: { name: "a", key: "b" } }] }),
    says: "spec.contentFrom[0].member",
  },
  { it: "a contact that is no address", object: () => make().tenant({ contact: { email: "me" } }), says: "email" },
  ...accountCases.map(([it, channels, says]) => ({ it, object: () => make().app({ channels }), says })),
  ...webhookCases.map(({ it: name, spec, says }) => ({
    it: `a webhook ${name}`,
    object: () => make().webhook(spec),
    says,
  })),
  {
    it: "a type that requires what it does not have",
    object: () => make().activityType({ contentStateSchema: schemaOf({ a: { type: "string" } }, ["b"]) }),
    says: "required names a member",
  },
  {
    it: "a type with a member of another type",
    object: () => make().activityType({ contentStateSchema: schemaOf({ a: { type: "array" } }) }),
    says: "Unsupported value",
  },
  ...[
    { it: "a number with a length", property: { type: "integer", minLength: 3 }, says: "only for the type string" },
    { it: "a string with a least", property: { type: "string", minimum: 3 }, says: "only for the types number" },
    { it: "crossed lengths", property: { type: "string", minLength: 9, maxLength: 1 }, says: "at most maxLength" },
    { it: "crossed bounds", property: { type: "number", minimum: 2.5, maximum: 1 }, says: "at most maximum" },
  ].map(({ it: name, property, says }) => ({
    it: `a type with ${name}`,
    object: () => make().activityType({ contentStateSchema: schemaOf({ a: property }) }),
    says,
  })),
  {
    it: "a type with 51 members",
    object: () =>
      make().activityType({
        contentStateSchema: schemaOf(
          Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`m${index}`, { type: "string" }])),
        ),
      }),
    says: "Too many",
  },
  {
    it: "a type whose member has no name",
    object: () => make().activityType({ contentStateSchema: schemaOf({ "": { type: "string" } }) }),
    says: "too short",
  },
  {
    it: "a plan of no webhook endpoint at all",
    object: () => make().plan({ webhookEndpoints: -1 }),
    says: "spec.webhookEndpoints",
  },
  {
    it: "a plan of 101 endpoints an app",
    object: () => make().plan({ webhookEndpoints: 101 }),
    says: "spec.webhookEndpoints",
  },
  { it: "a plan that keeps nothing", object: () => make().plan({ retentionDays: 0 }), says: "spec.retentionDays" },
  {
    it: "a plan that keeps for 11 years",
    object: () => make().plan({ retentionDays: 4015 }),
    says: "spec.retentionDays",
  },
  { it: "a plan of fewer than no apps", object: () => make().plan({ apps: -1 }), says: "spec.apps" },
  {
    it: "a plan of half a message",
    object: () => make().plan({ messagesPerMonth: 0.5 }),
    says: "spec.messagesPerMonth",
  },
  {
    it: "a plan of fewer than no subscribers",
    object: () => make().plan({ subscribers: -1 }),
    says: "spec.subscribers",
  },
  {
    it: "a plan without room for events that wait",
    object: () => make().plan({ waitingEventMegabytes: 0 }),
    says: "spec.waitingEventMegabytes",
  },
  { it: "a plan without a backlog", object: () => make().plan({ backlogPerTenant: 0 }), says: "spec.backlogPerTenant" },
  {
    it: "a tenant on a plan that no plan can be called",
    object: () => make().tenant({ plan: "a.b" }),
    says: "spec.plan",
  },
  { it: "a tenant with a namespace twice", object: () => make().tenant({ namespaces: ["a", "a"] }), says: "Duplicate" },
  {
    it: "a tenant with a namespace in capitals",
    object: () => make().tenant({ namespaces: ["A"] }),
    says: "spec.namespaces",
  },
  { it: "a tenant without a name", object: () => make().tenant({ displayName: "" }), says: "spec.displayName" },
  { it: "an app in no time zone", object: () => make().app({ timeZone: "" }), says: "spec.timeZone" },
  {
    it: "an app in a time zone that is an offset",
    object: () => make().app({ timeZone: "+01:00" }),
    says: "spec.timeZone",
  },
  { it: "an app in a time zone of no place", object: () => make().app({ timeZone: "Europe/" }), says: "spec.timeZone" },
  {
    it: "an app that does something else about a key",
    object: () => make().app({ idempotencyMismatch: "ignore" }),
    says: "Unsupported value",
  },
  {
    it: "an app that takes Huawei's tokens for another channel's",
    object: () => make().app({ importHuaweiAs: "ios_push" }),
    says: "Unsupported value",
  },
  { it: "a key for an app twice", object: () => make().apiKey({ appRefs: ["a", "a"] }), says: "Duplicate" },
  {
    it: "a key whose tokens all overlap",
    object: () => make().apiKey({ rotation: { everyHours: 2, overlapHours: 3 } }),
    says: "overlapHours cannot be more than everyHours",
  },
  { it: "a type of no name", object: () => make().activityType({ name: "" }), says: "spec.name" },
  {
    it: "a type with a member of an empty list of values",
    object: () => make().activityType({ contentStateSchema: schemaOf({ a: { type: "string", enum: [] } }) }),
    says: "enum",
  },
  {
    it: "a type with a text of 4,097 characters",
    object: () => make().activityType({ contentStateSchema: schemaOf({ a: { type: "string", maxLength: 4097 } }) }),
    says: "maxLength",
  },
  {
    it: "a type that requires a member twice",
    object: () => make().activityType({ contentStateSchema: schemaOf({ a: { type: "string" } }, ["a", "a"]) }),
    says: "Duplicate",
  },
];

const schemaOf = (properties: object, required?: string[]) => ({
  type: "object",
  properties,
  ...(required && { required }),
});

/** The messages of every CEL rule of a kind's CRD. */
export const rulesOf = (kind: ResourceDefinition): string[] => {
  const found: string[] = [];
  JSON.stringify(customResourceDefinition(kind), (key, value: unknown) => {
    if (key === "x-kubernetes-validations")
      found.push(...(value as { message: string }[]).map(({ message }) => message));
    return value;
  });
  return found;
};
