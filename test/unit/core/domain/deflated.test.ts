import { deflateRawSync, inflateRawSync } from "node:zlib";
import { expect } from "chai";
import { deflated, inflated } from "#core/domain/deflated.ts";

describe("deflated bytes", () => {
  for (const size of [0, 1, 255, 512, 513, 70_000])
    it(`are any reader's, and read again, when they were ${size}`, () => {
      const bytes = Buffer.alloc(size, "opened ");
      const stream = deflated(bytes);
      expect(inflateRawSync(stream).equals(bytes)).to.equal(true);
      expect(inflated(stream, size + 1).equals(bytes)).to.equal(true);
      expect(inflated(deflateRawSync(bytes), size + 1).equals(bytes)).to.equal(true);
    });

  it("are refused beyond what is to be read, or when they are damaged", () => {
    for (const size of [100, 1_000]) {
      expect(() => inflated(deflated(Buffer.alloc(size, "x")), size - 1)).to.throw();
      expect(() => inflated(deflated(Buffer.alloc(size, "x")).subarray(0, -1), size)).to.throw();
    }
    expect(() => inflated(Buffer.from([1, 2, 0, 0, 0]), 10)).to.throw();
  });
});
