import { expect } from "chai";
import { dispatcherGraceSeconds } from "#config/dispatcher.ts";
import { reserveMs, sendTimeoutMs, sendTimeoutsMs } from "../../../../dispatcher/channels/deadlines.ts";

const channels = Object.keys(sendTimeoutsMs) as (keyof typeof sendTimeoutsMs)[]; // the keys of a Record

describe("the time of one send", () => {
  it("is within every grace, with time left to store its outcome", () => {
    for (const graceSeconds of [1, 4, 10, 25, 50, 600])
      for (const channel of channels)
        expect(sendTimeoutMs(channel, graceSeconds * 1_000)).to.be.at.most(
          graceSeconds * 1_000 - Math.min(reserveMs, graceSeconds * 500),
        );
  });

  it("is a provider's own with the grace that a dispatcher has by itself, and that the chart holds it to", () => {
    for (const channel of channels)
      expect(sendTimeoutMs(channel, dispatcherGraceSeconds * 1_000)).to.equal(sendTimeoutsMs[channel]);
  });
});
