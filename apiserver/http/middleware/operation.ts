import type { Clock } from "#core/domain/clock.ts";
import { newId } from "#core/domain/ids.ts";
import { AppError } from "#core/errors.ts";
import type { RequireFeature } from "../../limits/plan-rules.ts";
import { etagOf, hasAlready } from "../protocol/etag.ts";
import { eventStreamHeaders } from "../protocol/event-stream.ts";
import type { ReadForm } from "../protocol/form.ts";
import type { Request } from "../route.ts";
import type { Check, Context, Middleware } from "../state.ts";
import { answerOnce, isAnswered, type OnceDeps } from "./once.ts";

export type OperationDeps = OnceDeps & { requireFeature: RequireFeature; clock: Clock };

/** 6: finds what the path or body names; 404 when it is not there, or not the caller's. */
export const locate =
  (deps: OperationDeps): Check =>
  async (ctx) => {
    const { route, params, body, caller, device, signal } = ctx.state;
    if (route.locate !== undefined && (caller !== undefined || device !== undefined)) {
      const asked = askedBy(ctx);
      const findApp = (id: string) => deps.findApp(asked.caller, id);
      ctx.state.resource = await route.locate({
        use: route.use,
        params,
        query: ctx.query,
        body,
        ...asked,
        findApp,
        signal,
      });
    }
    return null;
  };

type Asked = Pick<Request<unknown, unknown, unknown, unknown>, "caller" | "device">;

/** Sound: routes look at the one that they are of, and public ones at neither. */
const askedBy = ({ state: { caller, device } }: Context): Asked => ({ caller, device }) as Asked;

/** 7: one of the operation's scopes, or `admin`, which includes all. */
export const scope: Check = (ctx) => {
  const { route, caller } = ctx.state;
  if (typeof route.scopes === "string" || caller === undefined) return null;
  const granted = caller.key.scopes;
  if (granted.includes("admin") || route.scopes.some((wanted) => granted.includes(wanted))) return null;
  return new AppError("HS_FORBIDDEN", "this key does not have the scope of this operation", {
    required_scopes: route.scopes,
    granted_scopes: granted,
  });
};

/** 8: what the caller's plan includes. */
export const plan =
  (deps: OperationDeps): Check =>
  async (ctx) => {
    const { route, caller, resource } = ctx.state;
    const { feature, inPlan, use } = route;
    if (caller === undefined || (feature === undefined && inPlan === undefined)) return null;
    try {
      if (feature !== undefined) await deps.requireFeature(caller, feature);
      await inPlan?.({ use, caller, resource });
    } catch (refusal) {
      if (!(await isAnswered(ctx, deps))) throw refusal;
    }
    return null;
  };

/** 9 to 12: parses, then runs the operation, a repeated one once; it checks its own state and quota. */
export const operation =
  (deps: OperationDeps): Middleware =>
  async (ctx) => {
    const { route, bodyFault } = ctx.state;
    if (bodyFault !== undefined) throw bodyFault;
    const answer = await answerOnce(ctx, deps, requestOf(ctx, deps));
    const { stream } = answer;
    if (ctx.state.signal.aborted) return stream?.close(); // answered already
    const status = answer.status ?? route.status[0];
    Object.assign(ctx.state.headers, answer.headers, stream && eventStreamHeaders);
    ctx.state.reply = stream ? { status, text: "", stream } : { status, text: JSON.stringify(answer.body) };
    if (route.hasEtag === true) tellChanged(ctx);
  };

/** The reply of a route with an ETag is 304 without a body for a caller who has it already. */
const tellChanged = ({ headers: asked, state: { headers, reply } }: Context): void => {
  const etag = (headers["ETag"] ??= etagOf(String(reply.text)));
  if (!hasAlready(asked["if-none-match"], etag)) return;
  Object.assign(reply, { status: 304, text: "" });
  delete headers["Content-Type"];
};

const requestOf = (ctx: Context, { clock }: OperationDeps): Request<unknown, unknown, unknown, unknown> => {
  const { route, params, body, resource, signal, traceparent, form = noForm } = ctx.state;
  return {
    use: route.use,
    params,
    query: route.parseQuery(ctx.query),
    body: route.parseBody(body),
    form,
    resource,
    ...askedBy(ctx),
    header: (name) => ctx.headers[name.toLowerCase()]?.toString(), // "" is given, and the operation's to refuse
    ip: ctx.ip,
    requestId: ctx.state.requestId,
    signal,
    traceparent,
    newId: (kind) => newId(kind, clock.now()),
    once: null,
  };
};

const noForm: ReadForm = () => Promise.reject(new TypeError("the route takes no form"));
