import { expect } from "chai";
import fc from "fast-check";
import { type KeyValues, mostKeys, tallyOf, valuesAfter } from "#core/domain/events/day-values.ts";
import { looksPersonal } from "#core/domain/events/personal.ts";
import { counted, mostFrequent, mostTracked } from "#core/domain/events/sketch.ts";

const countsOf = (values: readonly string[]): Map<string, number> =>
  new Map([...Map.groupBy(values, (value) => value)].map(([value, all]) => [value, all.length]));

describe("a sketch of values", () => {
  it("is exact for up to a hundred different values, in whatever batches they come", () => {
    const values = fc.array(
      fc.integer({ min: 0, max: mostTracked - 1 }).map((n) => `v${n}`),
      { maxLength: 400 },
    );
    fc.assert(
      fc.property(values, fc.nat(400), (all, cut) => {
        const sketch = counted(counted([], countsOf(all.slice(0, cut))), countsOf(all.slice(cut)));
        expect(new Map(sketch.map(({ value, count }) => [value, count]))).to.deep.equal(countsOf(all));
        expect(sketch.every(({ error }) => error === 0)).to.equal(true);
      }),
    );
  });

  it("never counts too low, is off by no more than it says, and has what came more than once in a hundred", () => {
    const values = fc.array(
      fc.integer({ min: 0, max: 20_000 }).map((n) => `v${Math.floor(Math.sqrt(n) * (n % 3))}`),
      { minLength: 500, maxLength: 1_500 },
    );
    fc.assert(
      fc.property(values, (all) => {
        const truth = countsOf(all);
        const parts = Array.from({ length: Math.ceil(all.length / 70) }, (_, n) => all.slice(n * 70, n * 70 + 70));
        const sketch = parts.reduce((before, part) => counted(before, countsOf(part)), counted([], new Map()));
        expect(sketch.length).to.be.at.most(mostTracked);
        for (const { value, count, error } of sketch) {
          expect(count).to.be.at.least(truth.get(value) ?? 0);
          expect(count - error).to.be.at.most(truth.get(value) ?? 0);
        }
        const held = new Set(sketch.map(({ value }) => value));
        for (const [value, n] of truth) if (n > all.length / mostTracked) expect(held.has(value)).to.equal(true);
      }),
      { numRuns: 20 },
    );
  });

  it("of several days shows the most frequent of all, by their sums", () => {
    const days = [
      counted(
        [],
        new Map([
          ["a", 3],
          ["b", 2],
        ]),
      ),
      counted(
        [],
        new Map([
          ["b", 2],
          ["c", 1],
        ]),
      ),
    ];
    expect(mostFrequent(days, 2)).to.deep.equal([
      { value: "b", count: 4 },
      { value: "a", count: 3 },
    ]);
  });
});

describe("what looks personal", () => {
  const personal = [
    "ann@example.com",
    "write to ann@example.com!",
    "+49 170 1234567",
    "0170-1234567",
    "(555) 123-4567",
    "123e4567-e89b-12d3-a456-426614174000",
    "123E4567E89B12D3A456426614174000",
    "x".repeat(65),
  ];
  const plain = [
    "EUR",
    "pro plan",
    "2026-11-23",
    "2026-11-23T10:00:00Z",
    "v1.2.3",
    "12345",
    "1.99",
    "x".repeat(64),
    "a@b",
  ];
  for (const value of personal) it(`is ${value}`, () => expect(looksPersonal(value)).to.equal(true));
  for (const value of plain) it(`is not ${value}`, () => expect(looksPersonal(value)).to.equal(false));
});

describe("the values of a day", () => {
  const after = (...batches: Record<string, unknown>[][]): KeyValues[] =>
    batches.reduce<KeyValues[]>((before, batch) => valuesAfter(before, tallyOf(batch)), []);
  const of = (rows: readonly KeyValues[], key: string) => rows.find((one) => one.key === key);

  it("are scalars as texts, counted over batches", () => {
    const rows = after([{ a: 1, b: true, c: [1], d: {}, e: null }], [{ a: 1, b: false, a2: "1" }]);
    expect(rows.map(({ key }) => key).toSorted()).to.deep.equal(["a", "a2", "b"]);
    expect(of(rows, "a")?.values).to.deep.equal([{ value: "1", count: 2, error: 0 }]);
  });

  it("hide a property from its first personal value on, and keep nothing of it", () => {
    const rows = after([{ to: "shop" }], [{ to: "ann@example.com" }], [{ to: "shop" }]);
    expect(of(rows, "to")).to.deep.equal({ key: "to", values: [], hidden: true });
    expect(JSON.stringify(rows)).to.not.include("ann");
  });

  it("hide a property with more than a thousand different values", () => {
    const batch = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => ({ order: `o-${from + n}`, n: (from + n) % 150 }));
    const few = after(batch(0, 400), batch(400, 900), batch(0, 900));
    expect(of(few, "order")?.hidden).to.equal(undefined);
    expect(of(few, "order")?.values).to.have.length(mostTracked);
    const many = after(batch(0, 400), batch(400, 900), batch(900, 1_100));
    expect(of(many, "order")).to.deep.equal({ key: "order", values: [], hidden: true });
    expect(of(many, "n")?.hidden).to.equal(undefined);
  });

  it("are of a hundred properties at most", () => {
    const many = Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`p${n}`, n]));
    expect(after([many], [{ other: "ann@example.com" }])).to.have.length(mostKeys);
  });
});
