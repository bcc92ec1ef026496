import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";

/** Server-sent events that are told as they happen: whole lines, as they are written. */
export type EventStream = {
  /** Ends when there is nothing more to tell, or once it is closed. */
  texts: AsyncIterable<string>;
  /** Its reader is gone, or never came. May be called more than once. */
  close: () => void;
};

export const eventStreamType = "text/event-stream";

/**
 * The headers of a reply that goes on: no proxy is to keep it, change it or wait until it is whole. Source: WHATWG HTML,
 * "Server-sent events"; nginx, "X-Accel-Buffering".
 */
export const eventStreamHeaders: Readonly<Record<string, string>> = {
  "Content-Type": eventStreamType,
  "Cache-Control": "no-store, no-transform",
  "X-Accel-Buffering": "no",
};

type Exchange = { req: IncomingMessage; res: ServerResponse };

/** Writes texts as they come, once the head is written; never rejects. A reader who takes nothing for a minute is left. */
export const writeEvents = async ({ req, res }: Exchange, stream: EventStream): Promise<void> => {
  const { texts, close } = stream;
  res.once("close", close);
  if (req.method === "HEAD" || res.destroyed) close();
  res.flushHeaders();
  try {
    for await (const text of texts) if (!res.write(text)) await drained(res);
    res.end();
  } catch {
    res.destroy(); // its reader sees that it broke off, and comes back
  }
};

const mostWaitMs = 60_000;

const drained = async (res: ServerResponse): Promise<void> => {
  const signal = AbortSignal.timeout(mostWaitMs);
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  res.once("close", resolve);
  await Promise.race([once(res, "drain", { signal }), gone]).catch(() => res.destroy());
  res.off("close", resolve);
};
