import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import type { Log } from "#core/runtime/process/log.ts";
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
    metrics.requestSeconds.observe({ route, method }, seconds);
    const { caller, bodyBytes: bytes = 0 } = ctx.state;
    if (caller !== undefined) countUsage(caller.tenant._id, { requests: 1, bytes });
    log.info({ ...facts(ctx), status, method, route, durationMs: Math.round(seconds * 1e5) / 100 }, "request.handled");
  };

const unmatched = { method: "other", path: "none" };

const facts = ({ state }: Context): Record<string, unknown> => ({
  requestId: state.requestId,
  traceId: state.traceparent.slice(3, 35),
  tenant: state.caller?.tenant._id,
  key: state.caller?.key._id,
  app: state.params?.["appId"] ?? appOf(state.resource),
});

/** Every resource is an app or a part of one. */
const appOf = (resource: unknown): unknown => {
  if (typeof resource !== "object" || resource === null) return undefined;
  return "app_id" in resource ? resource.app_id : "_id" in resource ? resource._id : undefined;
};
