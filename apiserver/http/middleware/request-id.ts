import type { Clock } from "#core/domain/clock.ts";
import { ulid } from "#core/domain/ids.ts";
import type { RequestTraces } from "../request-traces.ts";
import type { Middleware } from "../state.ts";

export const serviceVersion = "1.0.0"; // docs/reference/requests.md#versions

/** Gives the request its id and trace: the caller's when they are well formed, else new ones. Both go into the reply. */
export const requestId =
  ({ clock, traces }: { clock: Clock; traces: Pick<RequestTraces, "begin"> }): Middleware =>
  (ctx, next) => {
    const given = ctx.get("X-Request-Id");
    ctx.state.requestId = /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : ulid(clock.now());
    Object.assign(ctx.state, traces.begin(ctx.get("traceparent")));
    ctx.state.startedAt = performance.now();
    ctx.state.headers["X-Request-Id"] = ctx.state.requestId;
    ctx.state.headers["Service-Version"] = serviceVersion;
    return next();
  };
