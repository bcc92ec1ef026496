import { AppError } from "#core/errors.ts";
import { rateHeaders } from "../rate.ts";
import type { Middleware } from "../state.ts";
import type { TakeToken } from "../take-token.ts";

/** The key's token bucket: every authenticated request costs one token, a refused one costs none. */
export const rateLimit =
  (takeToken: TakeToken): Middleware =>
  async (ctx, next) => {
    const { caller } = ctx.state;
    if (caller === undefined) return next();
    const state = await takeToken(caller.key._id, caller.plan.api_rps);
    ctx.set(rateHeaders(state));
    if (state.isDegraded) ctx.set("X-RateLimit-Degraded", "1");
    if (state.isAllowed) return next();
    throw new AppError("HS_RATE_LIMITED", "this key's request rate is exhausted", {
      retry_after_seconds: state.resetSeconds,
    });
  };
