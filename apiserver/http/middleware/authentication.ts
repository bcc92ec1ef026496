import { AppError } from "#core/errors.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import { addressRefusal } from "../../access/allowed-addresses.ts";
import { type Authenticate, unauthenticated } from "../../access/authenticate.ts";
import { appHeader, type FindDevice, ownSubscription, secretHeader } from "../../access/device.ts";
import type { RequestTraces } from "../request-traces.ts";
import type { Check, Context } from "../state.ts";
import { sourceOf } from "./edge-limit.ts";

/** Of routes that need a key: Bearer, and `Key` or `Basic` with the raw key, or `X-API-Key`. Source: docs/reference/requests.md#authentication. */
export const authentication =
  ({ authenticate, findDevice, used, traces }: AuthenticationDeps): Check =>
  async (ctx) => {
    const { scopes } = ctx.state.route;
    if (scopes === "public") return null;
    if (scopes === "app" || scopes === "device") return ofDevice(ctx, findDevice, scopes);
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

/** What devices say of themselves stands in headers of their own; a token of three parts is an identity token, and no key. */
const ofDevice = async (ctx: Context, find: FindDevice, scopes: "app" | "device"): Promise<null> => {
  const given = ctx.get("Authorization");
  const identityToken = /^Bearer +([\w-]+\.[\w-]*\.[\w-]*)$/i.exec(given)?.[1] ?? "";
  const hasKey = (given !== "" && identityToken === "") || ctx.get("X-API-Key") !== "";
  ctx.state.device = await find({
    appId: ctx.get(appHeader),
    secret: ctx.get(secretHeader),
    identityToken,
    hasKey,
    source: sourceOf(ctx.ip),
  });
  if (scopes === "device") ownSubscription(ctx.state.device);
  return null;
};

export type AuthenticationDeps = {
  authenticate: Authenticate;
  findDevice: FindDevice;
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
