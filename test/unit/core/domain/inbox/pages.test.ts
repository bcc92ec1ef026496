import { expect } from "chai";
import { type EntryOfPage, type InboxPart, type InboxPlace, pageIn, partFor } from "#core/domain/inbox/pages.ts";

const now = new Date("2026-11-27T12:00:00.000Z");
const at = (n: number) => new Date(now.getTime() + n);
const entry = (n: number): EntryOfPage => ({
  id: `itm_${n}`,
  message_id: `msg_${n}`,
  at: at(n),
  expires_at: at(60_000),
});
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const all = numbers(0, 100).map(entry);
const placeOf = (n: number): InboxPlace => ({ at: at(n), id: `itm_${n}`, index: n });

/** What a store gives for a part. */
const read = (entries: readonly EntryOfPage[], part: ReturnType<typeof partFor>): InboxPart => {
  const { upTo, count } = part ?? { upTo: null, count: entries.length };
  const end = upTo === null ? entries.length : upTo + 1;
  const from = Math.max(0, end - count);
  return { entries: entries.slice(from, end), from, total: entries.length };
};
const page = (
  part: InboxPart,
  after: InboxPlace | null,
  { limit = 3, among = () => true }: { limit?: number; among?: (one: EntryOfPage) => boolean } = {},
) =>
  pageIn(part, { now, after, limit, among, idOf: ({ id = "" }) => id })?.map(({ entry: { id }, index }) => [
    id,
    index,
  ]) ?? null;
const first = (entries: readonly EntryOfPage[], after: InboxPlace | null = null) =>
  read(entries, partFor({ after, limit: 3 }));

describe("a page of an inbox", () => {
  it("is made of the newest states alone", () => {
    const part = first(all);
    expect(part.entries.length).to.be.below(all.length);
    expect(page(part, null)).to.deep.equal([
      ["itm_99", 99],
      ["itm_98", 98],
      ["itm_97", 97],
    ]);
  });

  it("begins behind its place, whatever came or went meanwhile", () => {
    const expected = ["itm_49", "itm_48", "itm_47"];
    for (const entries of [all, [...all, entry(100), entry(101)], all.slice(7)]) {
      const part = first(entries, placeOf(50));
      expect(part.entries.length).to.be.below(entries.length);
      expect(page(part, placeOf(50))?.map(([id]) => id)).to.deep.equal(expected);
    }
  });

  it("leaves out what is not asked for, expired or deleted", () => {
    const expired = { ...entry(99), expires_at: now };
    const deleted = { ...entry(98), deleted_at: now };
    const part = first([...all.slice(0, 98), deleted, expired]);
    const even = ({ id = "" }: EntryOfPage) => Number(id.slice(4)) % 2 === 0;
    expect(page(part, null, { among: even })?.map(([id]) => id)).to.deep.equal(["itm_96", "itm_94", "itm_92"]);
  });

  it("is not known from a part with too few of its items, or without the one that it begins behind", () => {
    const ofTwo = ({ id }: EntryOfPage) => id === "itm_99" || id === "itm_1";
    expect(page(first(all), null, { among: ofTwo })).to.equal(null);
    const gone = [...all.slice(0, 50), ...all.slice(51)];
    expect(page(first(gone, placeOf(50)), placeOf(50))).to.equal(null);
    expect(page(first(all.slice(60), placeOf(80)), placeOf(80))).to.equal(null);
  });

  it("is known from all states: behind what is no newer where its beginning is gone", () => {
    const ofTwo = ({ id }: EntryOfPage) => id === "itm_99" || id === "itm_1";
    expect(page(read(all, null), null, { among: ofTwo })?.map(([id]) => id)).to.deep.equal(["itm_99", "itm_1"]);
    const gone = [...all.slice(0, 50), ...all.slice(51)];
    expect(page(read(gone, null), placeOf(50))?.map(([id]) => id)).to.deep.equal(["itm_49", "itm_48", "itm_47"]);
    expect(page(read([], null), null)).to.deep.equal([]);
    expect(page(read(all.slice(60), null), placeOf(50))).to.deep.equal([]);
  });

  it("of a cursor of before releases is looked for in all states", () => {
    expect(partFor({ after: { at: at(50), id: "itm_50" }, limit: 3 })).to.equal(null);
  });
});
