import { AppError } from "#core/errors.ts";
import { type Authenticate, unauthenticated } from "../../access/authenticate.ts";
import type { RequestTraces } from "../request-traces.ts";
import type { Check } from "../state.ts";

/** Bearer, and `Key` or `Basic` with the raw key. Source: docs/reference/requests.md#authentication. */
export const authentication =
  ({ authenticate, traces }: AuthenticationDeps): Check =>
  async (ctx) => {
    if (ctx.state.route.scopes === "public") return null;
    const token = tokenOf(ctx.get("Authorization"));
    const found = typeof token === "string" ? await authenticate(token) : token;
    if (found instanceof AppError) return found;
    ctx.state.caller = found;
    const { span, startedAt } = ctx.state;
    if (span !== null) return null;
    const given = ctx.get("traceparent");
    if (given !== "") Object.assign(ctx.state, traces.ofCaller(given, { tenantId: found.tenant._id, startedAt }));
    return null;
  };

export type AuthenticationDeps = { authenticate: Authenticate; traces: Pick<RequestTraces, "ofCaller"> };

const tokenOf = (header: string): string | AppError => {
  if (header === "") return unauthenticated("missing");
  const [, token] = /^(?:Bearer|Key|Basic) +([\x21-\x7e]{1,512})$/i.exec(header) ?? [];
  return token ?? unauthenticated("invalid");
};
