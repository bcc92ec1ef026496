import { expect } from "chai";
import type { Outcome } from "#core/domain/outcome.ts";
import { breaker } from "../../../dispatcher/breaker.ts";
import { handClock, noon } from "../../support/work.ts";

const unavailable: Outcome = {
  kind: "retry_at",
  at: noon,
  code: "PROVIDER_UNAVAILABLE",
  providerCode: "503",
  reason: "shutting down",
};
const limited: Outcome = { ...unavailable, code: "PROVIDER_RATE_LIMITED" };
const misconfigured: Outcome = { kind: "config_error", code: "PROVIDER_AUTH", providerCode: "403", reason: "bad key" };

const observed = (outcome: Outcome, times: number, clock = handClock()) => {
  const made = breaker(clock);
  for (let n = 0; n < times; n++) made.observe(outcome);
  return { made, clock };
};

describe("breaker", () => {
  it("lets calls through before twenty failures in a row", () => {
    expect(observed(unavailable, 19).made.verdict()).to.equal(null);
  });

  it("answers for the provider after twenty failures in a row", () => {
    expect(observed(unavailable, 20).made.verdict()).to.include({ kind: "retry_at", code: "PROVIDER_UNAVAILABLE" });
  });

  it("lets a call through after its pause", () => {
    const { made, clock } = observed(unavailable, 20);
    clock.advance(1_001);
    expect(made.verdict()).to.equal(null);
  });

  it("doubles its pause when the call after it fails too", () => {
    const { made, clock } = observed(unavailable, 20);
    clock.advance(1_001);
    made.observe(unavailable);
    clock.advance(1_001);
    expect(made.verdict()).to.include({ kind: "retry_at" });
  });

  it("closes with the first good answer", () => {
    const { made } = observed(unavailable, 20);
    made.observe({ kind: "sent", providerId: null });
    expect(made.verdict()).to.equal(null);
  });

  it("repeats a configuration error, which every recipient would meet", () => {
    expect(observed(misconfigured, 20).made.verdict()).to.deep.equal(misconfigured);
  });

  it("never calls a recipient uncertain who was not handed over", () => {
    expect(observed({ kind: "uncertain", reason: "reset" }, 20).made.verdict()).to.include({ kind: "retry_at" });
  });

  it("does not open for a rate limit, which names its own instant", () => {
    expect(observed(limited, 100).made.verdict()).to.equal(null);
  });
});
