import { AuditPage, AuditQuery } from "#core/schema/audit/audit.ts";
import { ofOrganisation } from "../access/of-organisation.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type AuditUse, auditUse } from "./use-cases.ts";

const route = routeOf<AuditUse>({ tag: "Audit log", scopes: ["admin"] });

const routes = [
  route({
    id: "listOrganisationAudit",
    method: "GET",
    path: "/v1/audit-log",
    summary: "List who changed what of the organisation and its apps, the newest first",
    query: AuditQuery,
    reply: AuditPage,
    locate: ofOrganisation,
    handle: async ({ use, caller, query, signal }) => ({
      body: await use.list({ tenantId: caller.tenant._id, appId: null }, query, signal),
    }),
  }),

  route({
    id: "listAudit",
    method: "GET",
    path: "/v1/apps/{appId}/audit-log",
    summary: "List who changed what of an app, the newest first",
    query: AuditQuery,
    reply: AuditPage,
    locate: appOfPath,
    handle: async ({ use, query, resource: app, signal }) => ({
      body: await use.list({ tenantId: app.tenant_id, appId: app._id }, query, signal),
    }),
  }),
];

/** Who changed what. */
export const audit = feature({ make: auditUse, routes, ...docs });
