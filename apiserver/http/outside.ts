import { NotFound } from "#core/errors.ts";
import type { Context, LongBody, Middleware } from "./state.ts";

/** A request to an address that needs no API key: a callback of a provider, a link in a message. */
export type OutsideRequest = {
  method: string;
  /** What is in the path behind the prefix, as it was sent: not decoded. */
  parts: readonly string[];
  /** Path and query, as they were sent. */
  target: string;
  /** The value of a header by its name in lower case; null without it. */
  header: (name: string) => string | null;
  ip: string;
  /** Reads the body. @throws AppError HS_PAYLOAD_TOO_LARGE, and a ValidationError for one that breaks off */
  body: (maxBytes: number) => Promise<Buffer>;
  signal: AbortSignal;
};

export type OutsideReply = { status: number; headers: Record<string, string>; body: string | Buffer; long?: LongBody };

/**
 * Addresses outside of `/v1`, which are no part of the interface: neither its checks nor its document know them. What it
 * throws is answered in the envelope.
 */
export type Outside<Platform> = {
  /** The beginning of its paths, with a slash at both ends. */
  prefix: string;
  /** Its paths, as metrics and logs name them: `/ingress/{provider}/{appId}`; the prefix itself where pages are. */
  path: string;
  bind: (platform: Platform) => (request: OutsideRequest) => Promise<OutsideReply>;
};

export type BoundOutside = Omit<Outside<never>, "bind"> & {
  answer: (request: OutsideRequest) => Promise<OutsideReply>;
};

export type OutsideDeps = {
  all: readonly BoundOutside[];
  /** Bounds the time of an answer. */
  inTime: Middleware;
  readBytes: (ctx: Context, maxBytes: number) => Promise<Buffer>;
};

/** Answers requests to such an address; any other goes on. A page that is asked for without its last slash is named. */
export const outside =
  ({ all, inTime, readBytes }: OutsideDeps): Middleware =>
  async (ctx, next) => {
    const found = all.find(({ prefix }) => ctx.path.startsWith(prefix));
    if (found === undefined) return leadToPage(all, ctx) ? undefined : next();
    ctx.state.matched = { method: ctx.method, path: found.path };
    await inTime(ctx, () => answer(found, ctx, readBytes));
  };

/** Relative: a proxy in front may have taken the beginning of the path away. */
const leadToPage = (all: OutsideDeps["all"], ctx: Context): boolean => {
  const page = all.find(({ prefix, path }) => path === prefix && `${ctx.path}/` === prefix);
  if (page === undefined || (ctx.method !== "GET" && ctx.method !== "HEAD")) return false;
  ctx.state.matched = { method: ctx.method, path: page.path };
  ctx.state.headers["Location"] = `${page.prefix.slice(1)}${ctx.search}`;
  ctx.state.reply = { status: 308, text: "" };
  return true;
};

const answer = async (found: BoundOutside, ctx: Context, readBytes: OutsideDeps["readBytes"]): Promise<void> => {
  const { status, headers, body, long } = await found.answer({
    method: ctx.method,
    parts: ctx.path.slice(found.prefix.length).split("/"),
    target: ctx.url,
    header: (name) => ctx.headers[name]?.toString() ?? null,
    ip: ctx.ip,
    body: (maxBytes) => readBytes(ctx, maxBytes),
    signal: ctx.state.signal,
  });
  if (ctx.state.signal.aborted) return; // answered already
  Object.assign(ctx.state.headers, headers);
  ctx.state.reply = { status, text: body, ...(long !== undefined && { long }) };
};

/** The answer to an address that leads nowhere, whatever the reason. */
export const nowhere = (): NotFound => new NotFound("route");
