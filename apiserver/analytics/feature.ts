import { Audience, AudienceQuery } from "#core/schema/analytics/audience.ts";
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
import { MessageReport, MessageReportQuery } from "#core/schema/analytics/message-report.ts";
import { MessagesQuery, MessageTotalsPage } from "#core/schema/analytics/messages.ts";
import { Outcomes, OutcomesQuery } from "#core/schema/analytics/outcomes.ts";
import { Recount, RecountRange } from "#core/schema/analytics/recount.ts";
import { Retention, RetentionQuery } from "#core/schema/analytics/retention.ts";
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
    id: "listAnalyticsMessages",
    method: "GET",
    path: "/v1/apps/{appId}/analytics/messages",
    summary: "Add up what became of each message, or of those of each campaign or template",
    query: MessagesQuery,
    reply: MessageTotalsPage,
    locate: appOfPath,
    handle: async ({ use, caller, query, resource }) => ({ body: await use.messages(caller, resource, query) }),
  }),
  route({
    id: "getAnalyticsMessage",
    method: "GET",
    path: "/v1/apps/{appId}/analytics/messages/{messageId}",
    summary: "Show what became of a message, by variant, channel, failure and link",
    query: MessageReportQuery,
    reply: MessageReport,
    locate: appOfPath,
    handle: async ({ use, params, resource, query, signal }) => ({
      body: await use.messageReport(resource, { messageId: params["messageId"] ?? "", query }, signal),
    }),
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
  route({
    id: "getAudience",
    method: "GET",
    path: "/v1/apps/{appId}/analytics/audience",
    summary: "Show who is there, and who came and went",
    query: AudienceQuery,
    reply: Audience,
    locate: appOfPath,
    handle: async ({ use, caller, query, resource }) => ({ body: await use.audience(caller, resource, query) }),
  }),
  route({
    id: "getRetention",
    method: "GET",
    path: "/v1/apps/{appId}/analytics/retention",
    summary: "Show who came back, or how far people came in a funnel of events",
    query: RetentionQuery,
    reply: Retention,
    locate: appOfPath,
    handle: async ({ use, caller, query, resource }) => ({ body: await use.retention(caller, resource, query) }),
  }),
  route({
    id: "recountDeliveries",
    method: "POST",
    path: "/v1/apps/{appId}/analytics/recount",
    scopes: ["admin"],
    status: [202],
    summary: "Count the deliveries of a range again",
    body: RecountRange,
    reply: Recount,
    locate: appOfPath,
    handle: async ({ use, body, resource }) => ({ body: await use.recount(resource, body) }),
  }),
];

/** What happened in an app, by its counts. */
export const analytics = feature({ make: analyticsUseCases, routes, ...docs });
