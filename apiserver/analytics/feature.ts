import {
  Channels,
  ChannelsQuery,
  Failures,
  FailuresQuery,
  Overview,
  OverviewQuery,
  Timeseries,
  TimeseriesQuery,
} from "#core/schema/analytics/deliveries.ts";
import { Outcomes, OutcomesQuery } from "#core/schema/analytics/outcomes.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type AnalyticsUse, analyticsUseCases } from "./use-cases.ts";

const route = routeOf<AnalyticsUse>({ tag: "Analytics", scopes: ["analytics:read"] });

const routes = [
  route({
    id: "getAnalyticsOverview",
    method: "GET",
    path: "/v1/apps/{appId}/analytics/overview",
    summary: "Add up what became of the deliveries of a range",
    query: OverviewQuery,
    reply: Overview,
    locate: appOfPath,
    handle: async ({ use, caller, query, resource }) => ({ body: await use.overview(caller, resource, query) }),
  }),
  route({
    id: "getAnalyticsTimeseries",
    method: "GET",
    path: "/v1/apps/{appId}/analytics/timeseries",
    summary: "Show how metrics of deliveries went",
    query: TimeseriesQuery,
    reply: Timeseries,
    locate: appOfPath,
    handle: async ({ use, caller, query, resource }) => ({ body: await use.timeseries(caller, resource, query) }),
  }),
  route({
    id: "getAnalyticsChannels",
    method: "GET",
    path: "/v1/apps/{appId}/analytics/channels",
    summary: "Add up what became of the deliveries of each channel",
    query: ChannelsQuery,
    reply: Channels,
    locate: appOfPath,
    handle: async ({ use, caller, query, resource }) => ({ body: await use.channels(caller, resource, query) }),
  }),
  route({
    id: "getAnalyticsFailures",
    method: "GET",
    path: "/v1/apps/{appId}/analytics/failures",
    summary: "Show why deliveries did not arrive",
    query: FailuresQuery,
    reply: Failures,
    locate: appOfPath,
    handle: async ({ use, caller, query, resource }) => ({ body: await use.failures(caller, resource, query) }),
  }),
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
