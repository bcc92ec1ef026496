import { expect } from "chai";
import { sourcePlaces } from "#core/runtime/process/source-lines.ts";
import { placesIn } from "#core/runtime/process/source-map.ts";

/** As esbuild writes it of `a.ts`, `export const a = 1;\nthrow new Error("a");`, and `b.ts` below it, all on the first line but one. */
const map = JSON.stringify({
  version: 3,
  sources: ["a.ts", "b.ts"],
  names: ["first"],
  mappings: "AAAO,SACPA;;ACDA,OAAO,KAAK",
});

describe("places of sources", () => {
  for (const { of, is, place } of [
    { of: "the begin of a segment", place: { line: 1, column: 1 }, is: "a.ts:1:8" },
    { of: "what follows it on its line", place: { line: 1, column: 9 }, is: "a.ts:1:8" },
    { of: "a later segment", place: { line: 1, column: 10 }, is: "a.ts:2:1" },
    { of: "a later line, whose columns begin anew", place: { line: 3, column: 8 }, is: "b.ts:1:8" },
    { of: "a line without segments", place: { line: 2, column: 1 }, is: null },
    { of: "a line beyond the last", place: { line: 9, column: 1 }, is: null },
  ])
    it(`are found by ${of}`, () => expect(placesIn(map, [place])).to.deep.equal([is]));

  it("are found for several at once, in their order", () => {
    const places = [3, 1].map((line) => ({ line, column: 1 }));
    expect(placesIn(map, places)).to.deep.equal(["b.ts:1:1", "a.ts:1:8"]);
  });

  const at = (file: string, line = 1) => ({ file, line, column: 1 });

  it("are those of a bundle alone, and its map is read once for each place", () => {
    const read: string[] = [];
    const sourceOf = sourcePlaces("file:///app/", (file) => {
      read.push(file);
      return map;
    });
    const places = [at("file:///app/x.js"), at("file:///app/node_modules.js", 3), at("node:fs"), at("file:///x.js")];
    for (const _ of [1, 2])
      expect([...sourceOf(places)]).to.deep.equal([
        ["file:///app/x.js:1:1", "a.ts:1:8"],
        ["file:///app/node_modules.js:3:1", "b.ts:1:1"],
      ]);
    expect(read).to.deep.equal(["file:///app/x.js", "file:///app/node_modules.js"]);
  });

  it("are the bundle's own where its map cannot be read, or says nothing of them", () => {
    const without = sourcePlaces("file:///app/", () => {
      throw new Error("no map");
    });
    const key = "file:///app/x.js:2:1";
    expect(without([at("file:///app/x.js", 2)]).get(key)).to.equal(key);
    expect(sourcePlaces("file:///app/", () => map)([at("file:///app/x.js", 2)]).get(key)).to.equal(key);
  });
});
