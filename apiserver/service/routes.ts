import { Type } from "typebox";
import { HealthReply, ServiceReply } from "#core/schema/service/status.ts";
import { serviceVersion } from "../http/middleware/request-id.ts";
import { type Route, route } from "../http/route.ts";

const tag = "Service";

/** Operations that need no key. */
export const serviceRoutes: readonly Route[] = [
  route({
    id: "getService",
    method: "GET",
    path: "/",
    summary: "What runs here",
    tag,
    scopes: "public",
    status: [200],
    reply: ServiceReply,
    handle: async () => ({
      body: { name: "herald", version: serviceVersion, documentation: "docs/api.md", openapi: "/v1/openapi.json" },
    }),
  }),

  route({
    id: "getHealth",
    method: "GET",
    path: "/healthz",
    summary: "Whether the process is up",
    tag,
    scopes: "public",
    status: [200],
    reply: HealthReply,
    handle: async () => ({ body: { status: "ok" } }),
  }),
];

/** The interface's own description. */
export const documentRoute = (document: () => { openapi: string }): Route =>
  route({
    id: "getOpenapi",
    method: "GET",
    path: "/v1/openapi.json",
    summary: "This interface as OpenAPI 3.1",
    tag,
    scopes: "public",
    status: [200],
    reply: Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
    handle: async () => ({ body: document() }),
  });
