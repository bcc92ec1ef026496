import { exampleTime } from "#core/schema/events/refs.ts";
import type { AddIncidentUpdate, CreateIncident, Incident, UpdateIncident } from "#core/schema/status/incident.ts";
import type { StatusDocument } from "#core/schema/status/status.ts";
import { components } from "#core/schema/status/vocabulary.ts";
import type { Docs } from "../http/feature.ts";
import { lastPage } from "../http/openapi/examples.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const shown = {
  id: "inc_01JDKQ4WSM7Y2HDB9C4TNEQ0KF",
  title: "Pushes to iOS are late",
  status: "identified" as const,
  severity: "minor" as const,
  components: ["delivery" as const],
  started_at: exampleTime,
  resolved_at: null,
  updates: [
    { status: "identified" as const, message: "Apple answers slowly. Nothing is lost.", created_at: exampleTime },
  ],
};

const incident: Incident = { ...shown, created_at: exampleTime, updated_at: exampleTime };

const states = components.map((name) => ({ name, status: name === "delivery" ? "degraded" : "operational" }) as const);

/** What the OpenAPI document says of the status beside its operations. */
export const docs: Docs = {
  tags: { Status: "How the service is, and its incidents." },
  examples: {
    StatusDocument: [
      { status: "degraded", checked_at: exampleTime, components: states, incidents: [shown] } satisfies StatusDocument,
    ],
    ComponentStatus: [states[0]],
    PublicIncident: [shown],
    Incident: [incident],
    IncidentPage: [lastPage(incident)],
    IncidentUpdate: shown.updates,
    CreateIncident: [
      {
        title: shown.title,
        severity: "minor",
        components: ["delivery"],
        message: "Pushes to iOS arrive minutes late. We are looking into it.",
      } satisfies CreateIncident,
    ],
    UpdateIncident: [{ severity: "major" } satisfies UpdateIncident],
    AddIncidentUpdate: [{ status: "resolved", message: "Everything is delivered again." } satisfies AddIncidentUpdate],
  },
  queryExamples: { status: ["investigating"] },
  pathParameters: { incidentId: pathPart("id of an incident", incident.id) },
};
