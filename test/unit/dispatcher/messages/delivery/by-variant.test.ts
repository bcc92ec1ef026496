import { expect } from "chai";
import { dayMs } from "#core/domain/durations.ts";
import { sharesOf } from "../../../../../dispatcher/messages/delivery/by-variant.ts";
import { aChunk, aMessage, anApp, noon } from "../../../../support/rows/work.ts";

const at = (days: number): string => new Date(noon.getTime() + days * dayMs).toISOString();

describe("an app's holdout", () => {
  const holdout = { percent: 10, salt: "", starts_at: at(-1), ends_at: at(1), exempt_categories: [] };
  const shares = (message: Parameters<typeof aMessage>[0]) =>
    sharesOf({ app: anApp({ holdout }), message: aMessage(message), chunk: aChunk() }, noon);

  it("is left out of notifications", () => {
    expect(shares({})).not.to.equal(null);
  });

  it("gets replies in conversations, and tries", () => {
    expect(shares({ conversation_id: "cnv_1" })).to.equal(null);
    expect(shares({ source: "test" })).to.equal(null);
  });
});
