import { expect } from "chai";
import {
  joinedBy,
  raisedBy,
  removalOf,
  type Suppressed,
  type SuppressionEntry,
} from "#core/domain/suppressions/strength.ts";
import { suppressionReasons } from "#core/schema/suppressions/suppression.ts";

const soon = new Date("2026-03-01T00:00:00Z");
const later = new Date("2026-04-01T00:00:00Z");
const anEntry = (over: Partial<SuppressionEntry> = {}): SuppressionEntry => ({
  reason: "manual",
  source: "api",
  note: null,
  categories: null,
  expires_at: null,
  ...over,
});

describe("an entry that is suppressed again", () => {
  const order = "legal complaint carrier_opt_out hard_bounce invalid_address unsubscribe manual soft_bounce".split(" ");
  const cases: { it: string; kept?: Partial<Suppressed>; again: Partial<Suppressed>; change: Partial<Suppressed> }[] = [
    { it: "stays as it is by the same", again: {}, change: {} },
    { it: "stays as it is by a weaker reason", again: { reason: "soft_bounce", note: "x" }, change: {} },
    {
      it: "takes a stronger reason with its source and note",
      again: { reason: "complaint", source: "provider", note: "x" },
      change: { reason: "complaint", source: "provider", note: "x" },
    },
    {
      it: "keeps its note when the stronger reason has none",
      kept: { note: "y" },
      again: { reason: "legal" },
      change: { reason: "legal", source: "api", note: "y" },
    },
    {
      it: "covers the categories of both",
      kept: { categories: ["a"] },
      again: { categories: ["b", "a"] },
      change: { categories: ["a", "b"] },
    },
    { it: "is not narrowed to categories", again: { categories: ["a"] }, change: {} },
    { it: "is widened to all messages", kept: { categories: ["a"] }, again: {}, change: { categories: null } },
    {
      it: "covers all messages when the categories become too many",
      kept: { categories: Array.from({ length: 20 }, (_, i) => `c${i}`) },
      again: { categories: ["a"] },
      change: { categories: null },
    },
    { it: "ends later", kept: { expires_at: soon }, again: { expires_at: later }, change: { expires_at: later } },
    { it: "ends no sooner", kept: { expires_at: later }, again: { expires_at: soon }, change: {} },
    { it: "ends never", kept: { expires_at: soon }, again: {}, change: { expires_at: null } },
    { it: "stays without an end", again: { expires_at: soon }, change: {} },
  ];
  for (const { it: name, kept, again, change } of cases) {
    it(name, () => expect(raisedBy(anEntry(kept), anEntry(again))).to.deep.equal(change));
  }

  const optOut = anEntry({ reason: "unsubscribe", beside_status: null });
  const complaint = anEntry({ reason: "complaint", source: "provider" });
  const joins: { it: string; kept: SuppressionEntry; again: SuppressionEntry; change: Partial<SuppressionEntry> }[] = [
    { it: "stays as it is by the same opt-out", kept: optOut, again: optOut, change: {} },
    {
      it: "remembers what there was before an opt-out",
      kept: anEntry({ note: "x", categories: ["a"] }),
      again: optOut,
      change: {
        reason: "unsubscribe",
        source: "api",
        note: "x",
        categories: null,
        beside_status: anEntry({ note: "x", categories: ["a"] }),
      },
    },
    {
      it: "remembers what came after an opt-out",
      kept: optOut,
      again: complaint,
      change: { reason: "complaint", source: "provider", note: null, beside_status: complaint },
    },
    {
      it: "remembers a person's own word that says the same as an opt-out",
      kept: optOut,
      again: anEntry({ reason: "unsubscribe", source: "one_click" }),
      change: { beside_status: anEntry({ reason: "unsubscribe", source: "one_click" }) },
    },
    {
      it: "raises what it remembers",
      kept: { ...optOut, beside_status: anEntry() },
      again: complaint,
      change: { reason: "complaint", source: "provider", note: null, beside_status: complaint },
    },
  ];
  for (const { it: name, kept, again, change } of joins) {
    it(name, () => expect(joinedBy(kept, again)).to.deep.equal(change));
  }

  it("knows the reasons in the order of their strength, and raises to each that is stronger", () => {
    expect(suppressionReasons).to.deep.equal(order);
    for (const [i, reason] of suppressionReasons.entries()) {
      for (const [j, again] of suppressionReasons.entries())
        expect("reason" in raisedBy(anEntry({ reason }), anEntry({ reason: again }))).to.equal(j < i);
    }
  });
});

describe("the removal of an entry", () => {
  for (const [reason, removal] of [
    ["manual", "free"],
    ["unsubscribe", "free"],
    ["soft_bounce", "free"],
    ["invalid_address", "free"],
    ["hard_bounce", "forced"],
    ["complaint", "forced"],
    ["carrier_opt_out", "never"],
    ["legal", "never"],
  ] as const) {
    it(`of ${reason} by a key is ${removal}`, () => expect(removalOf(reason)).to.equal(removal));
  }
});
