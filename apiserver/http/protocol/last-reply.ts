import type { Middleware } from "../state.ts";

/** While the program stops, each connection is closed with the reply that is under way. */
export const lastReply =
  (isStopping: () => boolean): Middleware =>
  async (ctx, next) => {
    await next();
    if (isStopping()) ctx.set("Connection", "close");
  };
