import { Usage } from "#core/schema/usage/usage.ts";
import { ofOrganisation } from "../access/of-organisation.ts";
import { feature } from "../http/feature.ts";
import { routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type UsageUse, usageUseCases } from "./use-cases.ts";

const route = routeOf<UsageUse>({ tag: "Usage", scopes: ["analytics:read"] });

const routes = [
  route({
    id: "getUsage",
    method: "GET",
    path: "/v1/usage",
    summary: "Show what the organisation did in the last hour and this month, and its limits",
    reply: Usage,
    locate: ofOrganisation,
    handle: async ({ use, caller }) => ({ body: await use.show(caller) }),
  }),
];

/** What an organisation uses of the service. */
export const usage = feature({ make: usageUseCases, routes, ...docs });
