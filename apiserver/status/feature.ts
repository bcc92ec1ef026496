import { OkReply } from "#core/schema/json/error.ts";
import {
  AddIncidentUpdate,
  CreateIncident,
  Incident,
  IncidentListQuery,
  IncidentPage,
  UpdateIncident,
} from "#core/schema/status/incident.ts";
import { StatusDocument } from "#core/schema/status/status.ts";
import { type IncidentRow } from "#core/storage/status/incidents.ts";
import { feature } from "../http/feature.ts";
import { done, type Located, routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type StatusUse, statusUseCases } from "./use-cases.ts";
import { incidentView } from "./views.ts";

const common = routeOf<StatusUse>({ tag: "Status", scopes: ["admin"] });

const ofAll = async (located: Located<StatusUse>): Promise<null> => {
  located.use.requireOperating(located);
  return null;
};

const ofPath = async (located: Located<StatusUse>): Promise<IncidentRow> => {
  located.use.requireOperating(located);
  return located.use.find(located.params["incidentId"] ?? "");
};

/** Whoever shows it may keep it for as long as the next look takes, and pages of other hosts may read it. */
const publicHeaders = { "Cache-Control": "public, max-age=5", "Access-Control-Allow-Origin": "*" };

const one = "/v1/incidents/{incidentId}";
const changed = ["HS_MANAGED", "HS_CONFLICT"] as const;

const routes = [
  common({
    id: "getStatus",
    method: "GET",
    path: "/status.json",
    summary: "Show how the service is, with what is known of incidents",
    scopes: "public",
    reply: StatusDocument,
    handle: async ({ use }) => ({ body: use.document(), headers: publicHeaders }),
  }),

  common({
    id: "listIncidents",
    method: "GET",
    path: "/v1/incidents",
    summary: "List the incidents of this installation",
    query: IncidentListQuery,
    reply: IncidentPage,
    locate: ofAll,
    handle: async ({ use, query }) => ({ body: await use.list(query) }),
  }),

  common({
    id: "createIncident",
    method: "POST",
    path: "/v1/incidents",
    summary: "Publish an incident",
    status: [201],
    body: CreateIncident,
    reply: Incident,
    locate: ofAll,
    repeatable: {
      made: async ({ use, newId }) => {
        const found = await use.made(newId("incident"));
        return found === null ? null : { body: incidentView(found) };
      },
    },
    handle: async ({ use, body, newId }) => ({ body: incidentView(await use.create(newId("incident"), body)) }),
  }),

  common({
    id: "getIncident",
    method: "GET",
    path: one,
    summary: "Show an incident",
    reply: Incident,
    locate: ofPath,
    handle: async ({ resource }) => ({ body: incidentView(resource) }),
  }),

  common({
    id: "updateIncident",
    method: "PATCH",
    path: one,
    summary: "Change the title, severity or components of an incident",
    errors: changed,
    body: UpdateIncident,
    reply: Incident,
    locate: ofPath,
    handle: async ({ use, resource, body }) => ({ body: incidentView(await use.change(resource, body)) }),
  }),

  common({
    id: "addIncidentUpdate",
    method: "POST",
    path: `${one}/updates`,
    summary: "Add an update to an incident, or resolve it",
    status: [201],
    errors: changed,
    body: AddIncidentUpdate,
    reply: Incident,
    locate: ofPath,
    repeatable: {
      made: async ({ resource, once }) => {
        const isMade = resource.updates.some(({ request }) => request !== undefined && request === once?.id);
        return isMade ? { body: incidentView(resource) } : null;
      },
    },
    handle: async ({ use, resource, body, once }) => ({
      body: incidentView(await use.addUpdate(resource, body, once?.id)),
    }),
  }),

  common({
    id: "deleteIncident",
    method: "DELETE",
    path: one,
    summary: "Remove an incident that was published by mistake",
    errors: changed,
    reply: OkReply,
    locate: ofPath,
    handle: ({ use, resource }) => done(use.remove(resource)),
  }),
];

/** How the service is, and its incidents. */
export const status = feature({ make: statusUseCases, routes, ...docs });
