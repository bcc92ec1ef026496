import type { Middleware } from "../state.ts";

/**
 * Writes the reply that was made below, its head and body at once. While the program stops, each connection is closed with
 * the reply that is under way.
 */
export const writeReply =
  (isStopping: () => boolean): Middleware =>
  async (ctx, next) => {
    ctx.respond = false; // Koa's own writer sets each header by itself
    ctx.state.headers = { "Content-Type": "application/json; charset=utf-8", "X-Content-Type-Options": "nosniff" };
    await next();
    const { headers, reply } = ctx.state;
    if (isStopping()) headers["Connection"] = "close";
    headers["Content-Length"] = String(Buffer.byteLength(reply.text));
    ctx.res.writeHead(reply.status, headers);
    ctx.res.end(reply.text);
  };
