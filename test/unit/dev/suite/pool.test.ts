import { expect } from "chai";
import { inPlaces } from "../../../../dev/suite/pool.ts";

describe("work in places", () => {
  const pieces = Array.from({ length: 20 }, (_, n) => n);

  it("is begun in order, and its results are in order, whatever ends first", async () => {
    const begun: number[] = [];
    const results = await inPlaces(pieces, 3, async (piece) => {
      begun.push(piece);
      for (let turns = piece % 3; turns > 0; turns--) await Promise.resolve();
      return piece * 2;
    });
    expect(begun).to.deep.equal(pieces);
    expect(results).to.deep.equal(pieces.map((piece) => piece * 2));
  });

  it("never has two pieces in one place at a time, nor a place beyond the size", async () => {
    const taken = new Set<number>();
    let most = 0;
    await inPlaces(pieces, 4, async (piece, place) => {
      expect(taken.has(place), `place ${place}`).to.equal(false);
      taken.add(place);
      most = Math.max(most, taken.size);
      for (let turns = piece % 5; turns > 0; turns--) await Promise.resolve();
      taken.delete(place);
    });
    expect(most).to.equal(4);
  });

  it("begins nothing more once its signal aborts, and gives what was begun", async () => {
    const ending = new AbortController();
    const results = await inPlaces(
      pieces,
      2,
      async (piece) => {
        if (piece === 5) ending.abort();
        return piece;
      },
      ending.signal,
    );
    expect(results.length).to.be.within(6, 7);
  });
});
