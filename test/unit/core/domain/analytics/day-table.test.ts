import { expect } from "chai";
import { addPacked, packed, runsOf, unpack } from "#core/domain/analytics/columns.ts";
import { type DayTable, type Entry, withQuarter } from "#core/domain/analytics/day-table.ts";
import { seeded } from "../../../../support/filters/random.ts";

const valuesOf = (bytes: Uint8Array, length: number): number[] => {
  const all = Array.from({ length }, () => 0);
  unpack(bytes, (count, place) => {
    all[place] = count;
  });
  return all;
};

describe("packed counts", () => {
  it("are the same when they are unpacked, whatever their size", () => {
    const random = seeded(182);
    const sizes = [1, 127, 128, 16_384, 2 ** 32, Number.MAX_SAFE_INTEGER];
    for (let n = 0; n < 50; n++) {
      const size = (): number => Math.floor(random() * (sizes[Math.floor(random() * sizes.length)] ?? 1));
      const counts = Array.from({ length: 200 }, () => (random() < 0.6 ? 0 : random() < 0.1 ? -1 - size() : size()));
      expect(valuesOf(packed(counts), counts.length)).to.deep.equal(counts);
      const target = new Float64Array(201);
      const places = Int32Array.from({ length: 50 }, (_, place) => (place % 7 === 0 ? -1 : place));
      const targets = [0, 1, 2, 3].map((key) => (key === 2 ? undefined : target.subarray(50 * key)));
      addPacked(packed(counts), { targets, runs: runsOf(places), from: 1 });
      const isAsked = (place: number): boolean => (place % 50) % 7 !== 0 && Math.floor(place / 50) !== 2;
      expect([...target]).to.deep.equal([0, ...counts.map((count, place) => (isAsked(place) ? count : 0))]);
    }
  });

  it("take a byte for each that is small, and next to nothing where there are none", () => {
    expect(packed([1, 2, 127])).to.have.length(3);
    expect(packed([5, ...Array.from({ length: 20_000 }, () => 0), 7])).to.have.length(6);
    expect(packed([0, 0, 0])).to.have.length(0);
  });
});

describe("a table of a day", () => {
  const entry = (key: string, sent: number, more: Partial<Entry> = {}): Entry => ({ key, counts: { sent }, ...more });
  const sums = ({ keys, sums: columns }: DayTable, metric: string): Record<string, number> => {
    const found = valuesOf(columns[metric] ?? new Uint8Array(), keys.length);
    return Object.fromEntries(keys.map((key, n) => [key, found[n] ?? 0]));
  };

  it("has in the place of a quarter what was counted last, and is the same in whichever order its quarters came", () => {
    const first = withQuarter(withQuarter(null, 3, [entry("a", 1), entry("b", 2)]), 95, [entry("c", 7)]);
    const mended = withQuarter(first, 3, [entry("a", 5), { key: "d", counts: { opened: 1 } }]);
    expect(sums(mended, "sent")).to.deep.equal({ a: 5, c: 7, d: 0 });
    expect(sums(mended, "opened")).to.deep.equal({ a: 0, c: 0, d: 1 });
    const other = withQuarter(withQuarter(null, 95, [entry("c", 7)]), 3, [
      { key: "d", counts: { opened: 1 } },
      entry("a", 5),
    ]);
    expect(other).to.deep.equal(mended);
    expect(withQuarter(withQuarter(mended, 3, []), 95, []).keys).to.deep.equal([]);
  });

  it("keeps the latest sample of each key", () => {
    const at = (ms: number) => ({ sample: { last_at: new Date(ms), message_id: `msg_${ms}` } });
    const made = withQuarter(withQuarter(null, 1, [entry("a", 1, at(50)), entry("b", 1)]), 2, [entry("a", 1, at(20))]);
    expect(made.samples).to.deep.equal([at(50).sample, null]);
  });
});
