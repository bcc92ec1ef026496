import { appHeader, secretHeader } from "../../access/device.ts";
import type { Middleware } from "../state.ts";

const prefix = "/sdk/";

/**
 * Lets pages of any origin call what devices call: an app's pages are wherever its people see them, and what such a call may
 * do follows from its secret, never from a cookie. Source: WHATWG Fetch, "CORS protocol".
 */
export const crossOrigin: Middleware = async (ctx, next) => {
  if (!ctx.path.startsWith(prefix)) return next();
  Object.assign(ctx.state.headers, forAll);
  if (ctx.method !== "OPTIONS") return next();
  ctx.state.matched = { method: "OPTIONS", path: prefix };
  Object.assign(ctx.state.headers, preflight);
  ctx.state.reply = { status: 204, text: "" };
};

const forAll = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "ETag, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset",
  "Cross-Origin-Resource-Policy": "cross-origin",
};

const preflight = {
  "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
  "Access-Control-Allow-Headers": `Authorization, Content-Type, If-None-Match, Last-Event-ID, ${appHeader}, ${secretHeader}`,
  "Access-Control-Max-Age": "86400",
};
