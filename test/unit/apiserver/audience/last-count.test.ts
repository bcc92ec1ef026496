import { expect } from "chai";
import type { MessageAim } from "#core/domain/segments/aim.ts";
import type { Audience } from "#core/storage/people/subscription-counts.ts";
import { lastCount } from "../../../../apiserver/audience/last-count.ts";

const countedAt = new Date("2026-06-15T12:00:00Z");
const counted = { _id: "seg_1", by_channel: { ios_push: 7, email: 3 }, counted_at: countedAt };
const find = lastCount({
  called: async () => [
    counted,
    { ...counted, _id: "seg_2", by_channel: null, counted_at: null },
    { ...counted, _id: "seg_3", by_channel: { ios_push: 5 }, counted_at: new Date(countedAt.getTime() - 1) },
  ],
});
const of = (change: Partial<Audience> = {}): Audience => ({
  tenantId: "ten_1",
  appId: "app_1",
  reach: [
    { channel: "ios_push", status: "subscribed" },
    { channel: "sms", status: "subscribed" },
  ],
  testOnly: false,
  category: null,
  ...change,
});
const aim = (change: Partial<MessageAim> = {}): MessageAim => ({
  isEveryone: false,
  included: ["seg_1"],
  excluded: [],
  filter: null,
  segments: [],
  ...change,
});

describe("the last count of an audience", () => {
  it("is that of its one segment, on the channels that it reaches", async () => {
    const byChannel = [
      ["ios_push", 7],
      ["sms", 0],
    ];
    expect(await find(of(), aim())).to.deep.equal({ byChannel, at: countedAt, isBound: false });
    expect(await find(of(), aim({ included: ["seg_1", "seg_1"] }))).to.deep.equal({
      byChannel,
      at: countedAt,
      isBound: false,
    });
  });

  it("bounds what several segments, a filter or an exclusion leave, as of the oldest of them", async () => {
    const both = await find(of(), aim({ included: ["seg_1", "seg_3"] }));
    const byChannel = [
      ["ios_push", 12],
      ["sms", 0],
    ];
    expect(both).to.deep.equal({ byChannel, at: new Date(countedAt.getTime() - 1), isBound: true });
    for (const change of [{ excluded: ["seg_2"] }, { filter: {} }])
      expect(await find(of(), aim(change)), JSON.stringify(change)).to.deep.include({ at: countedAt, isBound: true });
    expect(await find(of({ testOnly: true }), aim())).to.include({ isBound: true });
  });

  it("is none of anything else", async () => {
    expect(await find(of(), aim({ isEveryone: true, included: [] }))).to.equal(null);
    expect(await find(of(), aim({ included: ["seg_1", "seg_2"] })), "one was never counted").to.equal(null);
    expect(await find(of(), aim({ included: ["seg_2"] })), "never counted").to.equal(null);
    expect(await find(of({ reach: [{ channel: "email", status: "unsubscribed" }] }), aim())).to.equal(null);
  });
});
