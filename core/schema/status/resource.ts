import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { commonStatus, externalId, instant, resourceSpec } from "../kubernetes/common.ts";
import { defineResource } from "../kubernetes/definition.ts";
import { components, incidentLimits, incidentStatuses, severities } from "./vocabulary.ts";

const { Array: List, Enum, Optional, String: Text } = Type;

const Update = Closed(
  {
    at: instant("when this became known"),
    status: Enum([...incidentStatuses], { description: "what the incident is from then on" }),
    message: Text({ minLength: 1, maxLength: incidentLimits.messageCharacters, description: "for those who wait" }),
  },
  { description: "what was new" },
);

export const IncidentSpec = resourceSpec(externalId("incident", { isOfAll: true }), {
  title: Text({ minLength: 1, maxLength: incidentLimits.titleCharacters, description: "one line for the status page" }),
  severity: Enum([...severities], { description: "how bad it is" }),
  components: List(Enum([...components]), {
    minItems: 1,
    maxItems: components.length,
    "x-kubernetes-list-type": "set",
    description: "what is shown as degraded while the incident is open",
  }),
  startedAt: Optional(instant("when it began; absent = with its first update")),
  updates: List(Update, {
    minItems: 1,
    maxItems: incidentLimits.updates,
    "x-kubernetes-list-type": "atomic",
    description: "what was said, in any order; the newest one is the incident's status",
  }),
});
export type IncidentSpec = Static<typeof IncidentSpec>;

const IncidentStatus = Closed({
  ...commonStatus,
  status: Optional(Enum([...incidentStatuses], { description: "what the newest update says" })),
});

export const incidentResource = defineResource({
  kind: "Incident",
  plural: "incidents",
  idKind: "incident",
  shortNames: ["hinc"],
  scope: "Cluster",
  description: "A disturbance of the service, as the status page and /status.json publish it.",
  spec: IncidentSpec,
  status: IncidentStatus,
  columns: [
    { name: "Status", type: "string", jsonPath: ".status.status" },
    { name: "Severity", type: "string", jsonPath: ".spec.severity" },
    { name: "Title", type: "string", jsonPath: ".spec.title" },
  ],
});
