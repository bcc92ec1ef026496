import { AppError, invalid } from "#core/errors.ts";
import type { Check, Context } from "../state.ts";
import { eventStreamType } from "./event-stream.ts";

/** Refuses what is not HTTP/1.1, other versions, callers without JSON. Source: docs/reference/requests.md#headers. */
export const protocol: Check = (ctx) => {
  requireHttp(ctx);
  const version = ctx.headers["service-version"];
  if (version !== undefined && !/^1(\.\d{1,4}){0,2}$/.test(String(version))) {
    throw invalid("header.Service-Version", "must be 1: no other major version is served here");
  }
  const { accept } = ctx.headers;
  const isJson = acceptsAll.has(accept) || ctx.accepts("json", eventStreamType) !== false;
  return isJson ? null : notAcceptable("application/json");
};

/** Refuses who takes another type than that of the route's reply. */
export const acceptable: Check = (ctx) => {
  const { accept } = ctx.headers;
  if (accept === undefined || accept === "*/*") return null;
  const type = ctx.state.route.events === undefined ? "application/json" : eventStreamType;
  return accept === type || ctx.accepts(type) !== false ? null : notAcceptable(type);
};

const notAcceptable = (type: string): AppError =>
  new AppError("HS_NOT_ACCEPTABLE", `replies are ${type}`, { allowed: [type] });

/** What most callers say: looking closer takes its time. */
const acceptsAll: ReadonlySet<string | undefined> = new Set([undefined, "*/*", "application/json"]);

/** What Node would answer without a body. Source: RFC 9112 3.2 (Host), RFC 9110 10.1.1 (Expect). */
const requireHttp = ({ req, querystring }: Context): void => {
  const { host, expect } = req.headers;
  if (host === undefined && req.httpVersion !== "1.0") throw invalid("header.Host", "is required");
  if (expect !== undefined && expect.toLowerCase() !== "100-continue") {
    throw new AppError("HS_EXPECTATION_FAILED", "Expect must be 100-continue");
  }
  requireDecodable("query", querystring);
};

/** Throws when a part of the address is not percent-encoded UTF-8, which would be read as other characters, or has U+0000. */
export const requireDecodable = (field: "path" | "query", text: string): void => {
  if (/[^\x21-\x7e]/.test(text)) throw invalid(field, "must be percent-encoded"); // read as Latin-1
  if (text.includes("%00")) throw invalid(field, "must not contain U+0000");
  try {
    decodeURIComponent(text);
  } catch {
    throw invalid(field, "is not valid percent-encoding");
  }
};
