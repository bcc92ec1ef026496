import { invalid } from "#core/errors.ts";
import type { Middleware } from "../state.ts";

const overriding = ["PATCH", "PUT", "DELETE"];
const header = "X-HTTP-Method-Override";

/** Lets a client that can only POST name another method. Source: decisions 1.1. */
export const methodOverride: Middleware = (ctx, next) => {
  const wanted = ctx.get(header);
  if (wanted === "") return next();
  if (ctx.method !== "POST") throw invalid(`header.${header}`, "is only allowed on POST");
  if (!overriding.includes(wanted)) throw invalid(`header.${header}`, `must be one of ${overriding.join(", ")}`);
  ctx.method = wanted;
  return next();
};
