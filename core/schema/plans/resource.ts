import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { commonStatus, dnsLabel, externalUse, resourceSpec } from "../kubernetes/common.ts";
import { defineResource } from "../kubernetes/definition.ts";
import { planFeatures } from "../vocabulary/plan-features.ts";

const { Array: List, Enum, Integer, Optional, String: Text } = Type;

const maximum = 1_000_000_000_000; // far above any installation; keeps the numbers exact in JSON

/** What a plan that does not say it allows. */
export const usualWaitingMegabytes = 64;

const planName = dnsLabel(`the name of an existing plan ${externalUse(true, "the plan of the resource's own name")}`);

export const PlanSpec = resourceSpec(planName, {
  title: Text({ minLength: 1, maxLength: 100, description: "name for people" }),
  apiRps: Integer({
    minimum: 1,
    maximum: 100_000,
    description: "requests/s of one API key; also the capacity of its bucket",
  }),
  subscribers: Optional(
    Integer({ minimum: 0, maximum, description: "subscriptions over all apps of a tenant; absent = unlimited" }),
  ),
  messagesPerMonth: Optional(
    Integer({ minimum: 0, maximum, description: "deliveries in a calendar month (UTC); absent = unlimited" }),
  ),
  apps: Optional(Integer({ minimum: 0, maximum: 100_000, description: "apps of a tenant; absent = unlimited" })),
  members: Optional(
    Integer({
      minimum: 0,
      maximum: 100_000,
      description:
        "people of a tenant, as GET /v1/usage shows it; nothing counts them, as the service has no accounts of people; " +
        "absent = unlimited",
    }),
  ),
  suppressions: Optional(
    Integer({ minimum: 0, maximum, description: "entries of one app's suppression list; absent = unlimited" }),
  ),
  webhookEndpoints: Integer({ minimum: 0, maximum: 100, description: "webhook endpoints of one app" }),
  retentionDays: Integer({ minimum: 1, maximum: 3650, description: "days that messages and deliveries are kept" }),
  backlogPerTenant: Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1000,
    description:
      "hints of one tenant that may wait in the plan's stream; more wait in MongoDB until there is room. Lowered below " +
      "what waits it follows as that is done: nothing is dropped",
  }),
  waitingEventMegabytes: Optional(
    Integer({
      minimum: 1,
      maximum: 10_000,
      description:
        "events of one tenant that may wait in MongoDB because JetStream has no room for them or is away; beyond that " +
        `POST …/events is answered 429; absent = ${usualWaitingMegabytes}`,
    }),
  ),
  features: List(Enum([...planFeatures]), {
    maxItems: planFeatures.length,
    "x-kubernetes-list-type": "set",
    description: "what tenants of the plan may use",
  }),
});
export type PlanSpec = Static<typeof PlanSpec>;

const PlanStatus = Closed({
  ...commonStatus,
  stream: Optional(Text({ maxLength: 255, description: "the JetStream stream of the plan's tenants" })),
});

export const planResource = defineResource({
  kind: "Plan",
  plural: "plans",
  idKind: null,
  shortNames: ["hpl"],
  scope: "Cluster",
  description: "What the tenants on a plan may do, and the JetStream stream through which their work flows.",
  spec: PlanSpec,
  status: PlanStatus,
  rules: [
    {
      rule: "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= 63",
      message: "the name becomes part of subjects: at most 63 characters of a-z, 0-9 and -, without dots",
    },
  ],
  columns: [
    { name: "API-RPS", type: "integer", jsonPath: ".spec.apiRps" },
    { name: "Stream", type: "string", jsonPath: ".status.stream", wide: true },
  ],
  alsoServed: ["v1beta1"],
});
