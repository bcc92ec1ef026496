import { AppError, invalid } from "#core/errors.ts";
import type { Middleware } from "../state.ts";

/** Refuses another major version, and callers that take no JSON. Source: decisions 9.1, 9.8. */
export const protocol: Middleware = (ctx, next) => {
  const version = ctx.get("Service-Version");
  if (version !== "" && !/^1(\.\d{1,4}){0,2}$/.test(version)) {
    throw invalid("header.Service-Version", "must be 1: no other major version is served here");
  }
  if (ctx.accepts("json") === false) {
    throw new AppError("HS_NOT_ACCEPTABLE", "replies are application/json", { allowed: ["application/json"] });
  }
  return next();
};
