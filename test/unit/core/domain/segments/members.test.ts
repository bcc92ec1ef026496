import { expect } from "chai";
import type { FilteredPerson } from "#core/domain/filters/subject.ts";
import { judge } from "#core/domain/segments/judge.ts";
import {
  type Definitions,
  SegmentCircle,
  type SegmentDefinition,
  SegmentGone,
  segmentMembers,
} from "#core/domain/segments/members.ts";
import { randomly, seeded } from "../../../../support/filters/random.ts";

const now = new Date("2026-06-15T12:00:00Z");
const in_ = (value: string, op = "member") => ({ field: "segment", op, value });
const language = (value: string) => ({ field: "language", op: "eq", value });

const defined = (filters: Record<string, object | "list">): Definitions =>
  new Map(
    Object.entries(filters).map(([_id, filter]): [string, SegmentDefinition] => [
      _id,
      filter === "list" ? { _id, kind: "list", filter: null } : { _id, kind: "filter", filter },
    ]),
  );

const random = randomly(seeded(31));
const aPerson = (over: Partial<FilteredPerson> = {}): FilteredPerson => ({ ...random.person(0), ...over });
const mail = { ...random.subscription(0), channel: "email", status: "subscribed" };
const phone = { ...random.subscription(1), channel: "sms", status: "subscribed" };

describe("the members of segments", () => {
  it("are those who pass its filter, and the filters of the segments that it names", () => {
    const members = segmentMembers(
      defined({ de: { all: [language("de")] }, listed: "list", both: { all: [in_("de"), in_("listed")] } }),
      now,
    );
    const is = (id: string, person: FilteredPerson) =>
      judge(members.ofSegment(id), { person, subscriptions: [] }).isMember;
    const listed = aPerson({ language: "de", lists: ["listed"] });
    expect(["de", "listed", "both"].map((id) => is(id, listed))).to.deep.equal([true, true, true]);
    const other = aPerson({ language: "de", lists: ["another"] });
    expect(["de", "listed", "both"].map((id) => is(id, other))).to.deep.equal([true, false, false]);
  });

  it("are judged by each of their subscriptions where it, or one that it names, asks about those", () => {
    const members = segmentMembers(
      defined({ sms: { all: [{ field: "channel", op: "eq", value: "sms" }] }, named: { all: [in_("sms")] } }),
      now,
    );
    const named = members.ofSegment("named");
    const person = aPerson();
    expect(named.isOfPeople).to.equal(false);
    expect(judge(named, { person, subscriptions: [mail, phone] })).to.deep.equal({ isMember: true, passing: [phone] });
    expect(judge(named, { person, subscriptions: [] }).isMember).to.equal(false);
  });

  it("are not known when one that is named is gone, or segments name each other in a circle", () => {
    const members = segmentMembers(
      defined({ a: { all: [in_("b")] }, b: { none: [in_("a")] }, c: { all: [in_("d")] } }),
      now,
    );
    expect(() => members.ofSegment("a")).to.throw(SegmentCircle);
    expect(() => members.ofSegment("c"))
      .to.throw(SegmentGone)
      .with.property("segmentId", "d");
  });

  it("are asked once for each subject, however many segments name the same", () => {
    const wide = (next: string) => ({ all: [in_(next), { any: [in_(next), in_(next)] }] });
    const filters = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`s${i}`, wide(`s${i + 1}`)]));
    const members = segmentMembers(defined({ ...filters, s60: { all: [language("de")] } }), now);
    const { passes } = members.ofSegment("s0"); // 3 to the power of 60 questions otherwise
    const [german, french] = [aPerson({ language: "de" }), aPerson({ language: "fr" })];
    expect([german, french].map((person) => passes({ person, subscription: null }))).to.deep.equal([true, false]);
  });
});
