import { expect } from "chai";
import { readBounded } from "#core/runtime/http/read-bounded.ts";

const chunks = async function* (sizes: readonly number[], read: number[] = []): AsyncGenerator<Uint8Array> {
  for (const size of sizes) {
    read.push(size);
    yield new Uint8Array(size).fill(1);
  }
};

describe("a reply that is read whole", () => {
  it("may have as many bytes as the bound says", async () => {
    expect((await readBounded(chunks([3, 0, 2]), 5)).byteLength).to.equal(5);
    expect((await readBounded(chunks([]), 0)).byteLength).to.equal(0);
  });

  it("is refused as soon as it has one more, and the rest is not read", async () => {
    const read: number[] = [];
    const refused = await readBounded(chunks([3, 3, 9], read), 5).catch((error: unknown) => error);
    expect(refused).to.be.an.instanceOf(RangeError);
    expect(read).to.deep.equal([3, 3]);
  });
});
