import { Router } from "@koa/router";
import { AppError, invalid, NotFound } from "#core/errors.ts";
import type { Route } from "../route.ts";
import type { Middleware, State } from "../state.ts";

/**
 * Finds the row of the table that a request means; 404 and 405 for those that mean none. HEAD means GET.
 * Of several the one with the fewest parameters is meant: `webhooks/preview` before `webhooks/{webhookId}`.
 */
export const routing = (routes: readonly Route[]): Middleware => {
  const router = new Router<State>({ exclusive: "specificity", strict: true });
  for (const row of routes) {
    const path = row.path.replaceAll(/\{(\w+)\}/g, ":$1");
    router.register(path, [row.method], (ctx, next) => {
      ctx.state.route = row;
      ctx.state.params = ctx.params;
      return next();
    });
  }
  const find = router.routes() as unknown as Middleware; // sound: it adds to ctx only
  return (ctx, next) => {
    requireDecodable(ctx.path);
    return find(ctx, () => {
      if (ctx.state.route !== undefined) return next();
      throw unmatched(router, ctx.path, ctx.method);
    });
  };
};

/** A path that is not valid percent-encoding names nothing. */
const requireDecodable = (path: string): void => {
  try {
    decodeURIComponent(path);
  } catch {
    throw invalid("path", "is not valid percent-encoding");
  }
};

const unmatched = (router: Router<State>, path: string, method: string): AppError => {
  const allowed = [...new Set(router.match(path, method).path.flatMap(({ methods }) => methods))];
  if (allowed.length === 0) return new NotFound("route");
  return new AppError("HS_METHOD_NOT_ALLOWED", `${method} is not allowed here`, { allowed });
};
