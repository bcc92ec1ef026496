import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { commonStatus, displayName, dnsLabel, externalId, instant, resourceSpec } from "../kubernetes/common.ts";
import { defineResource } from "../kubernetes/definition.ts";

const { Array: List, Boolean: Flag, Optional, String: Text } = Type;

export const TenantSpec = resourceSpec(externalId("tenant", { isOfAll: true }), {
  displayName: displayName(", unique"),
  plan: dnsLabel("the plan: a Plan's name, or its externalName"),
  namespaces: List(dnsLabel("a namespace"), {
    minItems: 1,
    maxItems: 100,
    "x-kubernetes-list-type": "set",
    description:
      "namespaces whose resources are the tenant's; a namespace belongs to one tenant: the one that has it keeps it, " +
      "and of two new claims the older resource's wins",
  }),
  contact: Optional(
    Closed(
      {
        email: Text({
          format: "email",
          minLength: 3,
          maxLength: 320,
          description: "where mails about failing webhooks go",
        }),
      },
      { description: "how the organisation's owner is reached; absent = nobody is notified" },
    ),
  ),
  suspended: Flag({
    default: false,
    description:
      "refuses every API request of the tenant with 403 HS_ORGANIZATION_SUSPENDED and sends nothing: what is queued " +
      "waits, without using up attempts, and goes on when this is false again; either takes effect within a second",
  }),
  suspendedReason: Optional(Text({ minLength: 1, maxLength: 500, description: "said to the callers while suspended" })),
});
export type TenantSpec = Static<typeof TenantSpec>;

const Count = (description: string) => Type.Integer({ minimum: 0, description });

const figures = Closed(
  {
    requests: Count("REST requests"),
    messages: Count("notifications accepted"),
    deliveries: Count("recipients whose outcome is stored, suppressed ones left out"),
    events: Count("events of the tenant's apps"),
    webhookRequests: Count("requests to webhook endpoints"),
    bytes: Count("bytes of REST requests and of events sent to webhook endpoints"),
  },
  { description: "what was counted; docs/reference/usage.md says how" },
);

const TenantStatus = Closed({
  ...commonStatus,
  namespaces: Optional(
    List(Text({ maxLength: 63, description: "a namespace" }), {
      maxItems: 100,
      "x-kubernetes-list-type": "atomic",
      description: "the namespaces that the tenant really has",
    }),
  ),
  usage: Optional(
    Closed(
      {
        lastHour: figures,
        thisMonth: figures,
        webhookBacklog: Count("deliveries to webhook endpoints that wait"),
        updatedAt: instant("when the figures were written"),
      },
      {
        description:
          "what the tenant uses, to two digits; written when they change, at most once a minute; absent before it used " +
          "something. GET /v1/usage has the figures themselves",
      },
    ),
  ),
});

export type TenantStatus = Static<typeof TenantStatus>;

export const tenantResource = defineResource({
  kind: "Tenant",
  plural: "tenants",
  idKind: "tenant",
  shortNames: ["htn"],
  scope: "Cluster",
  description: "An organisation: the plan it is on and the namespaces that are its own.",
  spec: TenantSpec,
  status: TenantStatus,
  rules: [
    {
      rule: "!has(self.spec.suspendedReason) || self.spec.suspended",
      message: "suspendedReason needs suspended: true",
      fieldPath: ".spec.suspendedReason",
    },
  ],
  columns: [
    { name: "Plan", type: "string", jsonPath: ".spec.plan" },
    { name: "Suspended", type: "boolean", jsonPath: ".spec.suspended" },
    { name: "Deliveries/h", type: "integer", jsonPath: ".status.usage.lastHour.deliveries" },
    { name: "Backlog", type: "integer", jsonPath: ".status.usage.webhookBacklog" },
  ],
});
