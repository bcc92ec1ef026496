import { json } from "co-body";
import { AppError, invalid, ValidationError } from "#core/errors.ts";
import { mayHaveBody } from "../route.ts";
import type { Context, Middleware } from "../state.ts";

export const maxBodyBytes = 2 * 1024 * 1024; // decisions 9.7; of the body as sent, and again once inflated
const maxDepth = 20; // decisions 9.7

/**
 * Reads the JSON body of routes that may have one. What its type or size forbids is refused at once; a fault of its form
 * is validation's to tell, after resource, scope and plan (decisions 9.3). Why so: docs/decisions/0030.
 */
export const requestBody: Middleware = async (ctx, next) => {
  if (hasBody(ctx)) {
    requireJson(ctx);
    await read(ctx);
  }
  return next();
};

const read = async (ctx: Context): Promise<void> => {
  try {
    const body = await parse(ctx);
    checkTree(body);
    ctx.state.body = body;
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    ctx.state.bodyFault = error;
  }
};

/** Undefined for an empty body. `strict` is off: "" and 1 are refused by the body's schema, with the right field. */
const parse = async (ctx: Context): Promise<unknown> => {
  try {
    const body: unknown = await json(ctx, { limit: maxBodyBytes, strict: false });
    return body === "" ? undefined : body;
  } catch (error) {
    throw translate(error);
  }
};

/** 415 for what is not JSON, 413 for what says that it is too large. */
const requireJson = (ctx: Context): void => {
  if (ctx.is("json", "+json") === false) throw unsupported("Content-Type", ["application/json"]);
  const encoding = ctx.get("Content-Encoding").toLowerCase();
  if (!["", "identity", "gzip"].includes(encoding)) throw unsupported("Content-Encoding", ["gzip", "identity"]);
  const charset = ctx.request.charset.toLowerCase();
  if (!["", "utf-8", "utf8"].includes(charset)) throw unsupported("charset", ["utf-8"]);
  if ((ctx.request.length ?? 0) > maxBodyBytes) throw tooLarge();
};

const hasBody = (ctx: Context): boolean =>
  mayHaveBody(ctx.state.route) && (ctx.get("Transfer-Encoding") !== "" || (ctx.request.length ?? 0) > 0);

const checkTree = (body: unknown): void => {
  let level: unknown[] = [body];
  for (let depth = 1; level.length > 0; depth++) {
    const objects = level.filter((node) => typeof node === "object" && node !== null);
    if (objects.length > 0 && depth > maxDepth) {
      throw invalid("body", `must not nest deeper than ${maxDepth}`, { limit: maxDepth });
    }
    level = objects.flatMap(childrenOf);
  }
};

const childrenOf = (node: object): unknown[] => {
  if (Array.isArray(node)) return node;
  const names = Object.keys(node);
  if (names.some((name) => name.includes("\0"))) throw invalid("body", "has a member name with the character U+0000");
  return Object.values(node);
};

/** The parser's errors carry the body or the stream's state: only their kind goes on. */
const translate = (error: unknown): AppError => {
  const status: unknown = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) return tooLarge();
  if (error instanceof SyntaxError) return invalid("body", "is not valid JSON");
  return invalid("body", "cannot be read: it is cut off, or not what its headers say");
};

const tooLarge = (): AppError =>
  new AppError("HS_PAYLOAD_TOO_LARGE", "the body is too large", { limit_bytes: maxBodyBytes });

const unsupported = (what: string, allowed: string[]): AppError =>
  new AppError("HS_UNSUPPORTED_MEDIA_TYPE", `${what} must be ${allowed.join(" or ")}`, { allowed });
