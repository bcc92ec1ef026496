import { expect } from "chai";
import { openChunksOf } from "../../../../dispatcher/messages/open-chunks.ts";
import { peers } from "../../../../dispatcher/work/peers.ts";
import { type Outcome, sendByMany } from "../../../support/work/many-dispatchers.ts";

const audience = 256_000;
/** Milliseconds of a core: a turn; for one of the audience: reading and sending, as docs/scale.md has them. */
const costs = { turnMs: 10, readMs: 0.015, sendMs: 0.212 };
const workMs = audience * (costs.readMs + costs.sendMs);

/** With as many chunks at once as a dispatcher lets into the queue that knows of so many. */
const simulated = (dispatchers: number): Promise<Outcome> => {
  const known = peers();
  known.are(dispatchers);
  return sendByMany({ dispatchers, audience, costs, openChunks: openChunksOf(4, known) });
};

describe("one message that many dispatchers send, simulated", () => {
  for (const { dispatchers, busy } of [
    { dispatchers: 4, busy: 0.9 },
    { dispatchers: 64, busy: 0.4 }, // it takes two seconds, of which they are waiting for the first ranges for one
  ])
    it(`reaches each person once, and keeps ${dispatchers} of them busy`, async () => {
      const { endedMs, sentTo, sentTwice, chunksOfEach } = await simulated(dispatchers);
      expect({ sentTo, sentTwice }).to.deep.equal({ sentTo: audience, sentTwice: 0 });
      expect(workMs / (dispatchers * endedMs)).to.be.above(busy);
      expect(Math.max(...chunksOfEach) - Math.min(...chunksOfEach)).to.be.below(Math.max(...chunksOfEach) / 2);
    });

  it("lets no more of it into the queue than two dispatchers would send while it knows of no other", () => {
    expect(openChunksOf(4, peers())).to.equal(8);
  });
});
