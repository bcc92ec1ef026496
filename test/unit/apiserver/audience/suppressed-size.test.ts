import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { suppressedSize } from "../../../../apiserver/audience/suppressed-size.ts";
import { handClock } from "../../../support/rows/work.ts";

const audience = {
  tenantId: "ten_1",
  appId: "app_1",
  testOnly: false,
  category: null,
  reach: [{ channel: "email" as const, status: "subscribed" as const }],
};

describe("how many the suppression list holds back", () => {
  it("is answered in a bounded time, however long the list is", async () => {
    let pages = 0;
    const size = suppressedSize({
      entries: async (_of, _channel, after) => {
        pages++;
        await sleep(20);
        const _id = `${after}x`;
        return [{ _id, reason: "manual", categories: null, address: _id, user_id: null }];
      },
      subscriptions: async (_of, _stretch, { tokens }) => tokens,
      clock: handClock(),
      mostMs: 100,
    });
    const held = await size(audience);
    expect(held).to.be.within(1, pages);
    expect(pages).to.be.below(20);
  });
});
