import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { traceFacts } from "#core/runtime/tracing/traceparent.ts";
import { idPrefixes } from "#core/schema/vocabulary/id-prefixes.ts";
import type { CountUsage } from "#core/storage/usage/counter.ts";
import type { Context, Middleware } from "../state.ts";

export type AccessLogDeps = {
  log: Log;
  metrics: Pick<ApiserverMetrics, "requests" | "requestSeconds" | "requestsInFlight">;
  countUsage: CountUsage;
};

/** One line and one observation for each request, when its reply is made. Never bodies, tokens or addresses. */
export const accessLog =
  ({ log, metrics, countUsage }: AccessLogDeps): Middleware =>
  async (ctx, next) => {
    metrics.requestsInFlight.inc();
    await next(); // problem.ts stands below: nothing is thrown here
    metrics.requestsInFlight.dec();
    const seconds = (performance.now() - ctx.state.startedAt) / 1000;
    const { method, path: route } = ctx.state.matched ?? unmatched;
    const status = ctx.res.destroyed ? "gone" : ctx.state.reply.status; // nobody reads the reply of a client that left
    metrics.requests.inc({ route, method, status });
    metrics.requestSeconds.observe({ route, method }, seconds, ctx.state.traceparent);
    const { bodyBytes: bytes = 0 } = ctx.state;
    const tenant = tenantOf(ctx);
    if (tenant !== undefined) countUsage(tenant, { requests: 1, bytes });
    log.info({ ...facts(ctx), status, method, route, durationMs: Math.round(seconds * 1e5) / 100 }, "request.handled");
    endSpan(ctx, status);
  };

/** Source of the names: OpenTelemetry's semantic conventions for HTTP, "HTTP server span". */
const endSpan = (ctx: Context, status: number | "gone"): void => {
  const { span, matched } = ctx.state;
  if (span === null) return;
  const { method = "_OTHER", path: route } = matched ?? {};
  span.rename(route === undefined ? "HTTP" : `${method} ${route}`);
  span.set({ "http.request.method": method, ...(route !== undefined && { "http.route": route }) });
  const tenant = tenantOf(ctx);
  if (tenant !== undefined) span.set({ "herald.tenant": tenant });
  if (status === "gone") span.fail("client_gone");
  else span.set({ "http.response.status_code": status });
  if (status !== "gone" && status >= 500) span.fail(String(status));
  span.end();
};

const unmatched = { method: "other", path: "none" };

/** Of the key, or of the device. */
const tenantOf = ({ state: { caller, device } }: Context): string | undefined => (caller ?? device)?.tenant._id;

const facts = ({ state }: Context): Record<string, unknown> => ({
  requestId: state.requestId,
  ...traceFacts(state.traceparent),
  tenant: (state.caller ?? state.device)?.tenant._id,
  key: state.caller?.key._id,
  app: state.params?.["appId"] ?? state.device?.app._id ?? appOf(state.resource),
});

/** A resource is an app, a part of one, or the installation's: an incident. */
const appOf = (resource: unknown): unknown => {
  if (typeof resource !== "object" || resource === null) return undefined;
  if ("app_id" in resource) return resource.app_id;
  return "_id" in resource && String(resource._id).startsWith(`${idPrefixes.app}_`) ? resource._id : undefined;
};
