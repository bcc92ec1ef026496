import Koa from "koa";
import type { Clock } from "#core/domain/clock.ts";
import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { routes } from "../features.ts";
import type { TakeToken } from "../limits/take-token.ts";
import type { UseCases } from "../platform.ts";
import { accessLog } from "./middleware/access-log.ts";
import { type Authenticate, authentication } from "./middleware/authentication.ts";
import { deadline } from "./middleware/deadline.ts";
import { type EdgeLimit, edgeLimit } from "./middleware/edge-limit.ts";
import { locate, operation, plan, scope } from "./middleware/operation.ts";
import { rateLimit } from "./middleware/rate-limit.ts";
import { requestId } from "./middleware/request-id.ts";
import { routing } from "./middleware/routing.ts";
import { lastReply } from "./protocol/last-reply.ts";
import { methodOverride } from "./protocol/method-override.ts";
import { problem } from "./protocol/problem.ts";
import { protocol } from "./protocol/protocol.ts";
import { requestBody } from "./protocol/request-body.ts";
import type { State } from "./state.ts";

export type AppDeps = {
  use: UseCases;
  authenticate: Authenticate;
  takeToken: TakeToken;
  edge: EdgeLimit;
  /** Proxies in front whose `X-Forwarded-For` is believed; 0 = the peer's address counts. */
  trustedProxies: number;
  timeoutMs: number;
  /** True when the program stops: connections are closed with their replies. */
  isStopping: () => boolean;
  clock: Clock;
  log: Log;
  metrics: ApiserverMetrics;
};

/** The REST interface. The order of checks is that of decisions 9.3 and is promised to callers. */
export const app = (deps: AppDeps): Koa<State> => {
  const koa = new Koa<State>({ proxy: deps.trustedProxies > 0, maxIpsCount: deps.trustedProxies });
  koa.on("error", (err: unknown) => deps.log.warn({ err }, "reply.broken")); // its socket failed; Koa would print it
  koa.use(requestId(deps.clock));
  koa.use(accessLog(deps.log, deps.metrics));
  koa.use(lastReply(deps.isStopping));
  koa.use(problem(deps.log));
  koa.use(deadline(deps.timeoutMs));
  koa.use(edgeLimit(deps.edge, deps.clock)); //         1 edge rate
  koa.use(protocol);
  koa.use(methodOverride);
  koa.use(routing(routes)); //                          2 route and method
  koa.use(authentication(deps.authenticate)); //        3 authentication
  koa.use(rateLimit(deps.takeToken)); //                4 the key's bucket
  koa.use(requestBody); //                              5 body size and type
  koa.use(locate(deps.use)); //                         6 resource
  koa.use(scope); //                                    7 scope
  koa.use(plan(deps.use)); //                           8 plan
  koa.use(operation(deps.use)); //                      9 validation, 10 idempotency, 11 state, 12 quota
  return koa;
};
