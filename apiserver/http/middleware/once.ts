import type { FindApp } from "../../access/find-app.ts";
import { fingerprintOf, idempotencyKey } from "../idempotency-key.ts";
import type { Once, Owner } from "../once.ts";
import type { Answer, Request } from "../route.ts";
import type { Context } from "../state.ts";

export type OnceDeps = { findApp: FindApp; once: Once };

/** Answers a parsed request: once, when it has an idempotency key that means something here. */
export const answerOnce = async (
  ctx: Context,
  deps: OnceDeps,
  request: Request<unknown, unknown, unknown, unknown>,
): Promise<Answer<unknown>> => {
  const { route } = ctx.state;
  const { repeatable } = route;
  repeatable?.check?.(request);
  const keyed = await keyedOf(ctx, deps);
  if (keyed === null || repeatable === undefined) return route.handle(request);
  const { made, show, refusesMismatch } = repeatable;
  return deps.once.answer(
    { ...keyed, fingerprint: fingerprintOf(request.body) },
    {
      status: route.status[0],
      timeoutMs: route.form?.timeoutMs,
      refusesMismatch,
      handle: (attempt) => route.handle({ ...request, ...attempt }),
      made: made && ((attempt) => made({ ...request, ...attempt })),
      show: show && ((id) => show(request, id)),
    },
  );
};

/** Whether a request repeats one that was answered: what has become of the plan since does not matter then. */
export const isAnswered = async (ctx: Context, deps: OnceDeps): Promise<boolean> => {
  const keyed = await keyedOf(ctx, deps);
  return keyed !== null && deps.once.isAnswered(keyed);
};

type Keyed = { app: Owner; operation: string; key: string };

/** Null without a key. A key is unique in its operation, which is that on the very things that the path names. */
const keyedOf = async (ctx: Context, { findApp }: OnceDeps): Promise<Keyed | null> => {
  const { route, params, resource, caller } = ctx.state;
  if (route.repeatable === undefined || caller === undefined) return null;
  const key = idempotencyKey(ctx.headers["idempotency-key"]?.toString(), undefined);
  if (key === undefined) return null;
  const appId = params["appId"] ?? appOf(resource);
  const ofTenant: Owner = { _id: caller.tenant._id, tenant_id: caller.tenant._id, idempotency_mismatch: "replay" };
  const app = appId === null ? ofTenant : await findApp(caller, appId);
  return { app, operation: `${route.id} ${JSON.stringify(params)}`, key };
};

/** The app that a thing belongs to which the path names without its app; null when it belongs to none. */
const appOf = (resource: unknown): string | null =>
  typeof resource === "object" && resource !== null && "app_id" in resource ? String(resource.app_id) : null;
