import { expect } from "chai";
import { edgeLimit, sourceOf } from "../../../../apiserver/http/middleware/edge-limit.ts";
import type { Context } from "../../../../apiserver/http/state.ts";
import { type Bucket, RateLimited, rateState } from "../../../../apiserver/limits/rate.ts";

describe("sourceOf", () => {
  for (const [address, source] of [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "::ffff:192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001::2:3:4:5:6:7", "2001:0:2:3::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["not an address", "not an address"],
  ] as const) {
    it(`counts ${address} as ${source}`, () => expect(sourceOf(address)).to.equal(source));
  }
});

describe("the limit of an address", () => {
  const asking = async (path: string, isAllowed: boolean, perSecond = 10) => {
    const asked: [string, Bucket][] = [];
    const headers: Record<string, string> = {};
    const check = edgeLimit({ perSecond, burst: 20 }, async (name, bucket) => {
      asked.push([name, bucket]);
      return { ...rateState(bucket, isAllowed ? 7 : 0, isAllowed), isDegraded: false };
    });
    const ctx = { path, ip: "192.0.2.7", state: { headers } } as unknown as Context; // sound: it reads nothing else
    return { refusal: await check(ctx), asked, headers };
  };

  for (const [path, policy, bucket] of [
    ["/v1/notifications", "edge", { capacity: 20, perSecond: 10 }],
    ["/sdk/v1/config", "sdk_ip", { capacity: 120, perSecond: 60 }],
    ["/c/token", "outside", { capacity: 100, perSecond: 50 }],
  ] as const)
    it(`is that of ${policy} for ${path}`, async () => {
      const { refusal, asked, headers } = await asking(path, true);
      expect([refusal, asked]).to.deep.equal([null, [[`${policy}:192.0.2.7`, bucket]]]);
      expect(headers).to.include({
        "X-RateLimit-Remaining": "7",
        "RateLimit-Policy": `"${policy}";q=${bucket.capacity};w=2`,
      });
      const refused = (await asking(path, false)).refusal;
      expect(refused).to.be.instanceOf(RateLimited).and.to.include({ policy });
    });

  it("counts no callbacks, and nothing where there is none", async () => {
    expect((await asking("/ingress/twilio/app_1", false)).asked).to.deep.equal([]);
    const { refusal, asked } = await asking("/sdk/v1/config", false, 0);
    expect([refusal, asked]).to.deep.equal([null, []]);
  });
});
