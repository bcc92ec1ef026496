import { expect } from "chai";
import { inParts } from "#core/storage/files/in-parts.ts";

const cases = [
  { it: "nothing is one empty part", sizes: [], parts: [0] },
  { it: "less than a part is one", sizes: [1, 2], parts: [3] },
  { it: "a whole part has none behind it", sizes: [4], parts: [4] },
  { it: "a long chunk fills several", sizes: [1, 9], parts: [4, 4, 2] },
  { it: "empty chunks do nothing", sizes: [0, 5, 0], parts: [4, 1] },
];

describe("content in parts", () => {
  for (const { it: name, sizes, parts } of cases)
    it(name, async () => {
      let next = 0;
      async function* content(): AsyncGenerator<Uint8Array> {
        for (const size of sizes) yield Uint8Array.from({ length: size }, () => next++);
      }
      const given: number[][] = [];
      for await (const part of inParts(content(), 4)) given.push([...part]);
      expect(given.map((part) => part.length)).to.deep.equal(parts);
      expect(given.flat()).to.deep.equal(Array.from({ length: next }, (_, i) => i));
    });

  it("a part stays as it is while the next one is filled", async () => {
    async function* content(): AsyncGenerator<Uint8Array> {
      yield Uint8Array.of(1, 2, 3, 4, 5);
    }
    const parts = inParts(content(), 2);
    const first = (await parts.next()).value as Uint8Array;
    await parts.next();
    expect([...first]).to.deep.equal([1, 2]);
  });
});
