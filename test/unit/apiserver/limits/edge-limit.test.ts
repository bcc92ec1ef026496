import { expect } from "chai";
import { sourceOf } from "../../../../apiserver/http/middleware/edge-limit.ts";

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
