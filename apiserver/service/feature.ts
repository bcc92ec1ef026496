import { Type } from "typebox";
import { HealthReply, ServiceReply } from "#core/schema/service/status.ts";
import { type Feature, feature } from "../http/feature.ts";
import { serviceVersion } from "../http/middleware/request-id.ts";
import { routeOf } from "../http/route.ts";

const route = routeOf<{ document: () => { openapi: string } }>({ tag: "Service", scopes: "public" });

const about = {
  name: "herald",
  version: serviceVersion,
  documentation: "/docs/",
  openapi: "/v1/openapi.json",
  status: "/status/",
};

const routes = [
  route({
    id: "getService",
    method: "GET",
    path: "/",
    summary: "What runs here",
    reply: ServiceReply,
    handle: async () => ({ body: about }),
  }),

  route({
    id: "getHealth",
    method: "GET",
    path: "/healthz",
    summary: "Whether the process is up",
    reply: HealthReply,
    handle: async () => ({ body: { status: "ok" } }),
  }),

  route({
    id: "getOpenapi",
    method: "GET",
    path: "/v1/openapi.json",
    summary: "This interface as OpenAPI 3.1",
    reply: Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
    handle: async ({ use }) => ({ body: use.document() }),
  }),
];

/** Operations that need no key. `document` is the interface's own description. */
export const service = (document: () => { openapi: string }): Feature<object> =>
  feature({
    make: () => ({ document }),
    routes,
    tags: { Service: "What runs here, and this document. Needs no key." },
    examples: {
      Health: [{ status: "ok" }],
      Service: [about],
    },
  });
