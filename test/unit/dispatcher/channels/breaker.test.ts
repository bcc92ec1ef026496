import { expect } from "chai";
import type { Outcome } from "#core/domain/messages/outcome.ts";
import { type BreakerOptions, breaker } from "../../../../dispatcher/channels/breaker.ts";
import { handClock, noon } from "../../../support/rows/work.ts";

const busy = { kind: "retry_at", at: noon, providerCode: "503", reason: "shutting down" } as const;
const unavailable: Outcome = { ...busy, code: "PROVIDER_UNAVAILABLE", fault: "provider" };
const deferred: Outcome = { ...busy, code: "SOFT_BOUNCE" };
const limited: Outcome = { ...busy, code: "PROVIDER_RATE_LIMITED" };
const unreached: Outcome = { ...busy, code: "PROVIDER_UNAVAILABLE", fault: "origin" };
const misconfigured: Outcome = {
  kind: "config_error",
  code: "PROVIDER_AUTH",
  providerCode: "403",
  reason: "bad key",
  fault: "provider",
};
const sent: Outcome = { kind: "sent", providerId: null };

/** A breaker, what calls through it come to, and how many were made. */
const given = (options: Partial<BreakerOptions> = {}) => {
  const clock = handClock();
  let calls = 0;
  const made = breaker({ clock, counts: "provider", isKnown: true, ...options });
  const call = (outcome: Outcome | Promise<Outcome>): Promise<Outcome> =>
    made.run(async () => {
      calls++;
      return outcome;
    });
  const repeat = async (outcome: Outcome, times: number): Promise<void> => {
    for (let n = 0; n < times; n++) await call(outcome);
  };
  return { made, clock, call, repeat, calls: () => calls };
};

/** A call whose end the test decides. */
const pending = () => Promise.withResolvers<Outcome>();

describe("breaker", () => {
  it("lets calls through before twenty faults in a row", async () => {
    const { call, repeat } = given();
    await repeat(unavailable, 19);
    expect(await call(sent)).to.equal(sent);
  });

  it("answers for the provider after twenty faults in a row", async () => {
    const { call, repeat, calls } = given();
    await repeat(unavailable, 20);
    expect(await call(sent)).to.include({ kind: "retry_at", code: "PROVIDER_UNAVAILABLE" });
    expect(calls()).to.equal(20);
  });

  it("doubles its pause when the call after it fails too", async () => {
    const { call, repeat, clock } = given();
    await repeat(unavailable, 20);
    clock.tick(1_001);
    await call(unavailable);
    clock.tick(1_001);
    expect(await call(sent)).to.include({ kind: "retry_at" });
    clock.tick(1_001);
    expect(await call(sent)).to.equal(sent);
  });

  it("lets two calls try after its pause, and the others through when one of them comes through", async () => {
    const { call, repeat, clock, calls } = given();
    await repeat(unavailable, 20);
    clock.tick(1_001);
    const [first, second] = [pending(), pending()];
    const outcomes = [call(first.promise), call(second.promise), call(sent), call(sent)];
    await Promise.resolve();
    expect(calls()).to.equal(22);
    first.resolve(sent);
    expect(await Promise.all([outcomes[0], outcomes[2], outcomes[3]])).to.deep.equal([sent, sent, sent]);
    second.resolve(unavailable);
    await outcomes[1];
    expect(calls()).to.equal(24);
  });

  it("answers those who waited for a try that failed", async () => {
    const { call, repeat, clock, calls } = given();
    await repeat(unavailable, 20);
    clock.tick(1_001);
    const outcomes = await Promise.all([call(unavailable), call(unavailable), call(sent), call(sent)]);
    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(["retry_at", "retry_at", "retry_at", "retry_at"]);
    expect(calls()).to.equal(22);
  });

  it("goes on after a try that was broken off", async () => {
    const { made, call, repeat, clock } = given();
    await repeat(unavailable, 20);
    clock.tick(1_001);
    const [first, second] = [pending(), pending()];
    const brokenOff = [made.run(() => first.promise), made.run(() => second.promise)].map((one) =>
      one.catch(() => "gone"),
    );
    const waiting = call(sent);
    first.reject(new Error("stopping"));
    second.reject(new Error("stopping"));
    expect(await Promise.all(brokenOff)).to.deep.equal(["gone", "gone"]);
    expect(await waiting).to.equal(sent);
  });

  it("repeats a configuration error, which every recipient would meet", async () => {
    const { call, repeat } = given();
    await repeat(misconfigured, 20);
    expect(await call(sent)).to.deep.equal(misconfigured);
  });

  it("never calls a recipient uncertain who was not handed over", async () => {
    const { call, repeat } = given();
    await repeat({ kind: "uncertain", reason: "reset", fault: "provider" }, 20);
    expect(await call(sent)).to.include({ kind: "retry_at" });
  });

  for (const [what, outcome] of Object.entries({ "a rate limit": limited, "what concerns one recipient": deferred }))
    it(`does not open for ${what}`, async () => {
      const { call, repeat } = given();
      await repeat(outcome, 100);
      expect(await call(sent)).to.equal(sent);
    });

  it("takes faults of others neither for its own nor for a sign that it works", async () => {
    const { call, repeat } = given();
    await repeat(unavailable, 19);
    await repeat(unreached, 100);
    expect(await call(unavailable)).to.equal(unavailable);
    expect(await call(sent)).to.include({ kind: "retry_at" });
  });

  it("opens with the first fault of what has never worked", async () => {
    const { call, calls } = given({ counts: "origin", isKnown: false });
    await call(unreached);
    expect(await call(sent)).to.include({ kind: "retry_at", fault: "origin" });
    expect(calls()).to.equal(1);
  });

  it("makes no try for which there is no spare place", async () => {
    const { call, clock, calls } = given({
      counts: "origin",
      isKnown: false,
      spare: { take: () => false, give: () => expect.fail("was not taken") },
    });
    await call(unreached);
    clock.tick(1_001);
    expect(await call(sent)).to.include({ kind: "retry_at" });
    expect(calls()).to.equal(1);
  });
});
