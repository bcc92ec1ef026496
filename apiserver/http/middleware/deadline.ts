import { AppError } from "#core/errors.ts";
import type { Middleware } from "../state.ts";

/**
 * Bounds the time of a request and notices a client that left. What runs below may go on for a moment, but nobody
 * waits for it. Watches the reply's `close`: a request closes as soon as its body has been read.
 */
export const deadline =
  (timeoutMs: number): Middleware =>
  async (ctx, next) => {
    const controller = new AbortController();
    ctx.state.signal = controller.signal;
    const onClose = (): void => {
      if (!ctx.res.writableFinished) controller.abort(new AppError("HS_TIMEOUT", "the client has gone"));
    };
    const onTimeout = (): void => controller.abort(new AppError("HS_TIMEOUT", `took longer than ${timeoutMs} ms`));
    const timer = setTimeout(onTimeout, timeoutMs);
    ctx.res.once("close", onClose);
    try {
      await Promise.race([next(), aborted(controller.signal)]);
    } finally {
      clearTimeout(timer);
      ctx.res.off("close", onClose);
    }
  };

const aborted = (signal: AbortSignal): Promise<never> => {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }); // sound: aborted with errors only
  return promise;
};
