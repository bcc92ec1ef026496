import { AppError } from "#core/errors.ts";
import type { Middleware, State } from "../state.ts";

/**
 * Bounds the time of a request and notices a client that left; a route with a form says the bound itself. What runs
 * below may go on for a moment, but nobody waits for it. Watches the reply's `close`: a request closes as soon as its body has been read.
 */
export const deadline =
  (timeoutMs: number): Middleware =>
  async (ctx, next) => {
    const controller = new AbortController();
    ctx.state.signal = controller.signal;
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (message: string): void => {
      const error = new AppError("HS_TIMEOUT", message);
      controller.abort(error);
      reject(error);
    };
    const onClose = (): void => {
      if (!ctx.res.writableFinished) giveUp("the client has gone");
    };
    const { route }: Partial<State> = ctx.state;
    const mostMs = route?.form?.timeoutMs ?? timeoutMs;
    const timer = setTimeout(giveUp, mostMs, `took longer than ${mostMs} ms`);
    ctx.res.once("close", onClose);
    next().then(resolve, reject);
    try {
      await ended;
    } finally {
      clearTimeout(timer);
      ctx.res.off("close", onClose);
    }
  };
