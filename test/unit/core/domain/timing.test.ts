import { expect } from "chai";
import { type Timing, timings } from "#core/domain/timing.ts";

/** What must hold between two durations, so that who seems dead to others knows before that it may. */
const relations: { it: string; holds: (timing: Timing) => boolean }[] = [
  {
    it: "loses a word to JetStream and one more before a hint comes again",
    holds: ({ ackWaitMs, ackBeatMs }) => ackWaitMs >= 3 * ackBeatMs,
  },
  {
    it: "loses a beat without being silent",
    holds: ({ owners: { beatMs, silentMs } }) => silentMs > 2 * beatMs,
  },
  {
    it: "has those who do not look for two beats wait for what they see anew",
    holds: ({ owners: { beatMs, blindMs } }) => blindMs > 2 * beatMs,
  },
  {
    it: "serves no partition any more when others may take it, and is silent before",
    holds: ({ owners: { silentMs, trustMs, goneMs } }) => silentMs <= trustMs && trustMs < goneMs,
  },
  {
    it: "trusts its last beat through a failed one",
    holds: ({ owners: { beatMs, trustMs } }) => trustMs >= 3 * beatMs,
  },
  {
    it: "stops leading before another may lead, by what a clock may be off",
    holds: ({ leader: { leaseMs, renewMs } }) => renewMs <= 0.75 * leaseMs,
  },
  {
    it: "renews the Lease again after a failure, twice, before it stops",
    holds: ({ leader: { everyMs, renewMs, retryMs } }) => everyMs + 2 * retryMs <= renewMs,
  },
  {
    it: "leads for whole seconds, as Kubernetes counts them",
    holds: ({ leader: { leaseMs } }) => leaseMs % 1_000 === 0,
  },
  {
    it: "extends leases more seldom than three times a second",
    holds: ({ leaseMs, turnMs }) => Math.min(leaseMs, turnMs) >= 1_000,
  },
];

for (const [name, timing] of Object.entries(timings)) {
  describe(`a program under ${name} timing`, () => {
    for (const { it: sentence, holds } of relations) {
      it(sentence, () => {
        expect(holds(timing)).to.equal(true);
      });
    }
  });
}
