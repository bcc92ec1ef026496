import Koa from "koa";
import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { CountUsage } from "#core/storage/usage/counter.ts";
import type { Authenticate } from "../../access/authenticate.ts";
import type { FindDevice } from "../../access/device.ts";
import type { TakeFrom, TakeToken } from "../../limits/take-token.ts";
import { accessLog } from "../middleware/access-log.ts";
import { authentication } from "../middleware/authentication.ts";
import { crossOrigin } from "../middleware/cross-origin.ts";
import { deadline } from "../middleware/deadline.ts";
import { type EdgeLimit, edgeLimit } from "../middleware/edge-limit.ts";
import { locate, type OperationDeps, operation, plan, scope } from "../middleware/operation.ts";
import { rateLimit } from "../middleware/rate-limit.ts";
import { requestId } from "../middleware/request-id.ts";
import { routing } from "../middleware/routing.ts";
import { type BoundOutside, outside } from "../outside.ts";
import { methodOverride } from "../protocol/method-override.ts";
import { problem, refuse } from "../protocol/problem.ts";
import { acceptable, protocol } from "../protocol/protocol.ts";
import { writeReply } from "../protocol/reply.ts";
import { readBytes, requestBody } from "../protocol/request-body.ts";
import type { RequestTraces } from "../request-traces.ts";
import type { Route } from "../route.ts";
import type { Check, Middleware, State } from "../state.ts";

export type AppDeps = OperationDeps & {
  /** Every operation of the interface. */
  routes: readonly Route[];
  /** What is not a part of it, and answered without its checks. */
  outside: readonly BoundOutside[];
  authenticate: Authenticate;
  findDevice: FindDevice;
  /** Hears of each use of a key. */
  used: (key: ApiKeyRow) => void;
  takeToken: TakeToken;
  takeFrom: TakeFrom;
  edge: EdgeLimit;
  traces: RequestTraces;
  /** Proxies in front whose `X-Forwarded-For` is believed; 0 = the peer's address counts. */
  trustedProxies: number;
  timeoutMs: number;
  /** Where callers reach the service. */
  publicUrl: string;
  /** True when the program stops: connections are closed with their replies. */
  isStopping: () => boolean;
  log: Log;
  metrics: ApiserverMetrics;
  countUsage: CountUsage;
};

/** The REST interface. The order of checks: docs/reference/requests.md#order-of-checks. */
export const app = (deps: AppDeps): Koa<State> => {
  const koa = new Koa<State>({ proxy: deps.trustedProxies > 0, maxIpsCount: deps.trustedProxies });
  koa.on("error", (err: unknown) => deps.log.warn({ err }, "reply.broken")); // its socket failed; Koa would print it
  koa.use(writeReply({ isStopping: deps.isStopping, usualHeaders: securityHeaders(deps.publicUrl) }));
  koa.use(requestId(deps));
  koa.use(accessLog(deps));
  koa.use(problem(deps.log));
  koa.use(crossOrigin); // before the first check, so that a browser may read its refusal
  const inTime = deadline(deps.timeoutMs);
  koa.use(checks(edgeLimit(deps.edge, deps.takeFrom))); // 1 edge rate
  koa.use(outside({ all: deps.outside, inTime, readBytes }));
  koa.use(
    checks(
      protocol,
      methodOverride,
      routing(deps.routes), //               2 route and method
      acceptable,
    ),
  );
  koa.use(inTime); // what comes before it waits for Redis alone, and that has a bound of its own
  koa.use(
    checks(
      authentication(deps), //               3 authentication
      rateLimit(deps.takeToken), //          4 the key's bucket
      requestBody, //                        5 body size and type
      locate(deps), //                       6 resource
      scope, //                              7 scope
      plan(deps), //                         8 plan
    ),
  );
  koa.use(operation(deps)); //               9 validation, 10 idempotency, 11 state, 12 quota
  return koa;
};

const checks =
  (...inOrder: readonly Check[]): Middleware =>
  async (ctx, next) => {
    for (const check of inOrder) {
      const checked = check(ctx);
      const refusal = checked instanceof Promise ? await checked : checked;
      if (refusal !== null) return refuse(ctx, refusal);
    }
    return next();
  };

/**
 * What every reply has, unless a page needs something else. Replies belong to a key: nobody may keep them. No browser is
 * to guess their type, run or frame them, or tell others where it was; and one that has come by https is to come so again
 * (RFC 6797). Source: OWASP REST Security Cheat Sheet, "Security Headers".
 */
export const securityHeaders = (publicUrl: string): Readonly<Record<string, string>> => ({
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  ...(publicUrl.startsWith("https:") && { "Strict-Transport-Security": "max-age=31536000" }),
});
