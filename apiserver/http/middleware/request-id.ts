import { randomFillSync } from "node:crypto";
import type { Clock } from "#core/domain/clock.ts";
import { ulid } from "#core/domain/ids.ts";
import type { Middleware } from "../state.ts";

export const serviceVersion = "1.0.0"; // docs/reference/requests.md#versions

/** Gives the request its id and trace: the caller's when they are well formed, else new ones. Both go into the reply. */
export const requestId =
  (clock: Clock): Middleware =>
  (ctx, next) => {
    const given = ctx.get("X-Request-Id");
    ctx.state.requestId = /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : ulid(clock.now());
    ctx.state.traceparent = traceparentOf(ctx.get("traceparent"));
    ctx.state.startedAt = performance.now();
    ctx.state.headers["X-Request-Id"] = ctx.state.requestId;
    ctx.state.headers["Service-Version"] = serviceVersion;
    return next();
  };

/** The caller's trace with a new span of ours. Source: W3C Trace Context 3.2 (version 00; all-zero ids are invalid). */
const traceparentOf = (given: string): string => {
  const [, trace, flags] = /^00-([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/.exec(given) ?? [];
  const isKnown = trace !== undefined && !/^0+$/.test(trace);
  return `00-${isKnown ? trace : randomHex(16)}-${randomHex(8)}-${isKnown ? flags : "00"}`;
};

const stock = Buffer.alloc(4_096); // random bytes in stock: each call for some takes longer than all else here
let used = stock.length;

const randomHex = (bytes: number): string => {
  if (used + bytes > stock.length) {
    randomFillSync(stock);
    used = 0;
  }
  used += bytes;
  return stock.toString("hex", used - bytes, used);
};
