import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Context, LongBody, Middleware } from "../state.ts";
import { writeEvents } from "./event-stream.ts";

export type ReplyDeps = {
  /** True when the program stops. */
  isStopping: () => boolean;
  /** What every reply has, where nothing else is said. */
  usualHeaders: Readonly<Record<string, string>>;
};

/**
 * Writes the reply that was made below, its head and body at once. While the program stops, each connection is closed with
 * the reply that is under way.
 */
export const writeReply =
  ({ isStopping, usualHeaders }: ReplyDeps): Middleware =>
  async (ctx, next) => {
    ctx.respond = false; // Koa's own writer sets each header by itself
    ctx.state.headers = { "Content-Type": "application/json; charset=utf-8", ...usualHeaders };
    await next();
    const { headers, reply } = ctx.state;
    if (isStopping()) headers["Connection"] = "close";
    if (reply.stream !== undefined) {
      ctx.res.writeHead(reply.status, headers);
      void writeEvents(ctx, reply.stream);
      forget(ctx.state);
      return;
    }
    if (reply.status !== 304)
      headers["Content-Length"] = String(reply.long?.sizeBytes ?? Buffer.byteLength(reply.text));
    ctx.res.writeHead(reply.status, headers);
    if (reply.long === undefined) ctx.res.end(reply.text);
    else await send(ctx, reply.long);
  };

/** Koa keeps the context as long as a reply goes on: it need not keep what was read to answer, some kB of each. */
const forget = (state: Context["state"]): void => {
  delete state.device;
  state.resource = state.body = undefined;
  state.headers = {};
};

const longestMs = 3_600_000; // nobody reads a file slower than that on purpose

/** A body that breaks off, or is not there any more, ends the connection: its reader sees that bytes are missing. */
const send = async ({ res }: Context, { open }: LongBody): Promise<void> => {
  const signal = AbortSignal.timeout(longestMs);
  const content = (await open?.(signal)) ?? [];
  await pipeline(Readable.from(content, { objectMode: false }), res, { signal });
};
