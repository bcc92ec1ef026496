import { AppError } from "#core/errors.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import { addressRefusal } from "../../access/allowed-addresses.ts";
import { type Authenticate, unauthenticated } from "../../access/authenticate.ts";
import type { RequestTraces } from "../request-traces.ts";
import type { Check } from "../state.ts";

/** Bearer, and `Key` or `Basic` with the raw key, or `X-API-Key`. Source: docs/reference/requests.md#authentication. */
export const authentication =
  ({ authenticate, used, traces }: AuthenticationDeps): Check =>
  async (ctx) => {
    if (ctx.state.route.scopes === "public") return null;
    const token = tokenOf(ctx.get("Authorization"), ctx.get("X-API-Key"));
    const found = typeof token === "string" ? await authenticate(token) : token;
    if (found instanceof AppError) return found;
    const refusal = addressRefusal(found.key, ctx.ip);
    if (refusal !== null) return refusal;
    ctx.state.caller = found;
    used(found.key);
    const { span, startedAt } = ctx.state;
    if (span !== null) return null;
    const given = ctx.get("traceparent");
    if (given !== "") Object.assign(ctx.state, traces.ofCaller(given, { tenantId: found.tenant._id, startedAt }));
    return null;
  };

export type AuthenticationDeps = {
  authenticate: Authenticate;
  /** Hears of each use of a key. */
  used: (key: ApiKeyRow) => void;
  traces: Pick<RequestTraces, "ofCaller">;
};

/** The Kubernetes API takes `Authorization` for itself: what comes by its proxy has the key in a header of its own. */
const tokenOf = (header: string, alone: string): string | AppError => {
  if (header === "" && alone === "") return unauthenticated("missing");
  const given = header === "" ? `Key ${alone}` : header;
  const [, token] = /^(?:Bearer|Key|Basic) +([\x21-\x7e]{1,512})$/i.exec(given) ?? [];
  const isOne = alone === "" || alone === token;
  return token !== undefined && isOne ? token : unauthenticated("invalid");
};
