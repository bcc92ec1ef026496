import { text } from "co-body";
import { AppError, invalid, ValidationError } from "#core/errors.ts";
import { clip } from "#core/schema/json/parser-problems.ts";
import { mayHaveBody } from "../route.ts";
import type { Check, Context } from "../state.ts";
import { aroundFileBytes, type Form, fileTooLarge, formReader } from "./form.ts";
import { membersIn, repeatedMember } from "./json-members.ts";

export const maxBodyBytes = 2 * 1024 * 1024; // also inflated: docs/reference/requests.md#bodies
const maxDeviceBytes = 256 * 1024;
export const maxDepth = 20;

/**
 * Reads the JSON body of routes that may have one. What its type or size forbids is refused at once; a fault of its form
 * is validation's to tell, after resource, scope and plan. Source: docs/reference/requests.md#order-of-checks;
 * docs/decisions/0030.
 */
export const requestBody: Check = async (ctx) => {
  const { form } = ctx.state.route;
  if (form !== undefined) {
    requireForm(ctx, form);
    ctx.state.bodyBytes = ctx.request.length ?? 0;
    ctx.state.form = formReader(ctx.req, form, ctx.state.signal);
  } else if (hasBody(ctx)) {
    const maxBytes = maxBytesOf(ctx);
    requireJson(ctx, maxBytes);
    await read(ctx, maxBytes);
  }
  return null;
};

const maxBytesOf = ({ state: { device } }: Context): number => (device === undefined ? maxBodyBytes : maxDeviceBytes);

const read = async (ctx: Context, maxBytes: number): Promise<void> => {
  try {
    const bytes = await readBytes(ctx, maxBytes);
    ctx.state.bodyBytes = bytes.length;
    ctx.state.body = bytes.length === 0 ? undefined : parse(textOf(bytes));
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    ctx.state.bodyFault = error;
  }
};

const parse = (text: string): unknown => {
  const body = jsonOf(text);
  const seen = { members: 0 };
  const fault = faultIn(body, 1, seen);
  if (fault !== null) throw invalid(fieldOf(fault.path), fault.message);
  if (membersIn(text) !== seen.members)
    throw invalid(fieldOf(repeatedMember(text)?.toReversed() ?? []), "is named twice");
  return body;
};

/** The bytes of a body, inflated. @throws AppError HS_PAYLOAD_TOO_LARGE, and a ValidationError for one that breaks off */
export const readBytes = async (ctx: Context, maxBytes: number): Promise<Buffer> => {
  try {
    return (await text(ctx, { limit: maxBytes, encoding: "" })) as Buffer; // sound: without an encoding it is one
  } catch (error) {
    throw translate(error, maxBytes);
  }
};

const decoder = new TextDecoder("utf-8", { fatal: true });

const textOf = (bytes: Buffer): string => {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid("body", "is not valid UTF-8");
  }
};

const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    throw invalid("body", "is not valid JSON"); // without the cause, which shows the body
  }
};

/** 415 for what is not JSON, 413 for what says that it is too large. */
const requireJson = (ctx: Context, maxBytes: number): void => {
  if (ctx.is("json", "+json") === false) throw unsupported("Content-Type", ["application/json"]);
  const encoding = ctx.get("Content-Encoding").toLowerCase() || "identity";
  if (!["identity", "gzip"].includes(encoding)) throw unsupported("Content-Encoding", ["gzip", "identity"]);
  ctx.req.headers["content-encoding"] = encoding; // the reader compares it with regard to case
  const charset = ctx.request.charset.toLowerCase();
  if (!["", "utf-8", "utf8"].includes(charset)) throw unsupported("charset", ["utf-8"]);
  if ((ctx.request.length ?? 0) > maxBytes) throw tooLarge(maxBytes);
};

/** The same for a form, whose bytes are read by its handler. */
const requireForm = (ctx: Context, { maxBytes }: Form): void => {
  if (!ctx.is("multipart/form-data")) throw unsupported("Content-Type", ["multipart/form-data"]);
  const encoding = ctx.get("Content-Encoding").toLowerCase() || "identity";
  if (encoding !== "identity") throw unsupported("Content-Encoding", ["identity"]);
  if ((ctx.request.length ?? 0) > maxBytes + aroundFileBytes) throw fileTooLarge(maxBytes);
};

const hasBody = (ctx: Context): boolean =>
  mayHaveBody(ctx.state.route) && (ctx.get("Transfer-Encoding") !== "" || (ctx.request.length ?? 0) > 0);

/** What no schema looks for, and where: parts of the way to it, the last one first. */
type Fault = { path: string[]; message: string };

/** How many members were looked at. */
type Seen = { members: number };

const faultIn = (node: unknown, depth: number, seen: Seen): Fault | null => {
  if (typeof node === "string") return faultOfText(node);
  if (typeof node !== "object" || node === null) return null;
  if (depth > maxDepth) throw invalid("body", `must not nest deeper than ${maxDepth}`, { limit: maxDepth });
  return Array.isArray(node) ? faultOfList(node, depth, seen) : faultOfMembers(node, depth, seen);
};

const faultOfText = (text: string): Fault | null => {
  if (text.includes("\0")) return { path: [], message: "has the character U+0000" };
  return text.isWellFormed() ? null : { path: [], message: `has ${halfPair}` };
};

const faultOfList = (items: readonly unknown[], depth: number, seen: Seen): Fault | null => {
  for (const [i, item] of items.entries()) {
    const fault = faultIn(item, depth + 1, seen);
    if (fault !== null) return below(`[${i}]`, fault);
  }
  return null;
};

const faultOfMembers = (node: object, depth: number, seen: Seen): Fault | null => {
  for (const [name, member] of Object.entries(node)) {
    seen.members++;
    const problem = nameProblem(name);
    if (problem !== null) return { path: [], message: problem };
    const fault = faultIn(member, depth + 1, seen);
    if (fault !== null) return below(`.${name}`, fault);
  }
  return null;
};

const below = (part: string, { path, message }: Fault): Fault => ({ message, path: [...path, part] });

/** As `details.field` names members: `contents.en`, `labels[0]`. */
const fieldOf = (path: readonly string[]): string => clip(path.toReversed().join("").replace(/^\./, "")) || "body";

const halfPair = "half of a surrogate pair, which is no character";

const nameProblem = (name: string): string | null => {
  if (name.includes("\0")) return "has a member name with the character U+0000";
  if (name === "__proto__") return "has a member with the reserved name __proto__";
  return name.isWellFormed() ? null : `has a member name with ${halfPair}`;
};

/** The reader's errors carry the stream's state: only their kind goes on. */
const translate = (error: unknown, maxBytes: number): AppError => {
  const status: unknown = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) return tooLarge(maxBytes);
  return invalid("body", "cannot be read: it is cut off, or not what its headers say");
};

const tooLarge = (maxBytes: number): AppError =>
  new AppError("HS_PAYLOAD_TOO_LARGE", "the body is too large", { limit_bytes: maxBytes });

const unsupported = (what: string, allowed: string[]): AppError =>
  new AppError("HS_UNSUPPORTED_MEDIA_TYPE", `${what} must be ${allowed.join(" or ")}`, { allowed });
