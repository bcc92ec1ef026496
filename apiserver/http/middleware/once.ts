import type { AppRow } from "#core/storage/apps/apps.ts";
import type { UseCases } from "../../platform.ts";
import { fingerprintOf, idempotencyKey } from "../idempotency-key.ts";
import type { Answer, Request } from "../route.ts";
import type { Context } from "../state.ts";

/** Answers a parsed request: once, when it has an idempotency key that means something here. */
export const answerOnce = async (
  ctx: Context,
  use: UseCases,
  request: Request<unknown, unknown, unknown>,
): Promise<Answer<unknown>> => {
  const { route } = ctx.state;
  const keyed = await keyedOf(ctx, use);
  const { repeatable } = route;
  if (keyed === null || repeatable === undefined) return route.handle(request);
  const { made, show } = repeatable;
  return use.once.answer(
    { ...keyed, fingerprint: fingerprintOf(request.body) },
    {
      status: route.status[0],
      handle: (attempt) => route.handle({ ...request, ...attempt }),
      made: made && ((attempt) => made({ ...request, ...attempt })),
      show: show && ((id) => show(request, id)),
    },
  );
};

/** Whether a request repeats one that was answered: what has become of the plan since does not matter then. */
export const isAnswered = async (ctx: Context, use: UseCases): Promise<boolean> => {
  const keyed = await keyedOf(ctx, use);
  return keyed !== null && use.once.isAnswered(keyed);
};

type Keyed = { app: AppRow; operation: string; key: string };

/** Null without a key. A key is unique in its operation, which is that on the very things that the path names. */
const keyedOf = async (ctx: Context, use: UseCases): Promise<Keyed | null> => {
  const { route, params, caller } = ctx.state;
  if (route.repeatable === undefined || caller === undefined) return null;
  const key = idempotencyKey(ctx.get("Idempotency-Key") || undefined, undefined);
  if (key === undefined) return null;
  const app = await use.app(caller, params["appId"] ?? "");
  return { app, operation: `${route.id} ${JSON.stringify(params)}`, key };
};
