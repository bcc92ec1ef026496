import { RateLimited, rateHeaders } from "../../limits/rate.ts";
import type { TakeToken } from "../../limits/take-token.ts";
import type { Check } from "../state.ts";

/** The key's token bucket: every authenticated request costs one token, a refused one costs none. */
export const rateLimit =
  (takeToken: TakeToken): Check =>
  async (ctx) => {
    const { caller } = ctx.state;
    if (caller === undefined) return null;
    const state = await takeToken(caller.key._id, caller.plan.api_rps);
    if (state.isDegraded) ctx.state.headers["X-RateLimit-Degraded"] = "1";
    if (!state.isAllowed) return new RateLimited("key", "this key's request rate is exhausted", state);
    Object.assign(ctx.state.headers, rateHeaders("key", state));
    return null;
  };
