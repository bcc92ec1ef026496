import { expect } from "chai";
import { dispatcherGraceSeconds } from "#config/dispatcher.ts";
import { reserveMs, sendTimeoutMs } from "../../../../dispatcher/channels/accounts.ts";
import { sendingChannels } from "../../../../dispatcher/channels/all.ts";

const timeouts = Object.values(sendingChannels).flatMap((providers) =>
  Object.values(providers).map(({ timeoutMs }) => timeoutMs),
);

describe("the time of one send", () => {
  it("is within every grace, with time left to store its outcome", () => {
    for (const graceSeconds of [1, 4, 10, 25, 50, 600])
      for (const timeoutMs of timeouts)
        expect(sendTimeoutMs(timeoutMs, graceSeconds * 1_000)).to.be.at.most(
          graceSeconds * 1_000 - Math.min(reserveMs, graceSeconds * 500),
        );
  });

  it("is a provider's own with the grace that a dispatcher has by itself, and that the chart holds it to", () => {
    for (const timeoutMs of timeouts)
      expect(sendTimeoutMs(timeoutMs, dispatcherGraceSeconds * 1_000)).to.equal(timeoutMs);
  });
});
