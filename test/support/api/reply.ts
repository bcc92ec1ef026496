import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { Api, Reply } from "./api.ts";

/** Checks a reply for the headers that every reply has. */
export const expectHeaders = ({ headers }: Reply): void => {
  for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]) {
    expect(headers.get(name), name).to.match(/^\d+$/);
  }
  expect(headers.get("RateLimit-Policy")).to.match(/^"[a-z_.]+";q=\d+;w=[1-9]\d*$/);
  expect(headers.get("RateLimit")).to.match(/^"[a-z_.]+";r=\d+;t=\d+$/);
  expect(headers.get("Service-Version")).to.equal("1.0.0");
  expect(headers.get("X-Request-Id")).to.match(/^[A-Za-z0-9._-]{1,128}$/);
};

/** A body of so many levels. */
export const nested = (depth: number): string => `{"properties":${'{"a":'.repeat(depth - 1)}1${"}".repeat(depth - 1)}}`;

/** A device may ask once a second, and log in with few others: who is told to wait does so, but not a minute. */
export const answered = async (call: Api["call"], ...asked: Parameters<Api["call"]>): Promise<Reply> => {
  for (;;) {
    const reply = await call(...asked);
    if (reply.status !== 429 || reply.headers.get("RateLimit-Policy")?.includes("sdk.sessions") === true) return reply;
    await sleep(1_000 * Number(reply.headers.get("Retry-After")));
  }
};
