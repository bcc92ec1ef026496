import { Outcomes, OutcomesQuery } from "#core/schema/analytics/outcomes.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type AnalyticsUse, analyticsUseCases } from "./use-cases.ts";

const route = routeOf<AnalyticsUse>({ tag: "Analytics", scopes: ["analytics:read"] });

const routes = [
  route({
    id: "getOutcomes",
    method: "GET",
    path: "/v1/apps/{appId}/analytics/outcomes",
    summary: "Count custom events of a range, and add up their values",
    query: OutcomesQuery,
    reply: Outcomes,
    locate: appOfPath,
    handle: async ({ use, caller, query, resource }) => ({ body: await use.outcomes(caller, resource, query) }),
  }),
];

/** What happened in an app, by its counts. */
export const analytics = feature({ make: analyticsUseCases, routes, ...docs });
