import { expect } from "chai";
import { failedConditions, filterProblems, passes } from "#core/domain/webhooks/filter.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { type FilterCondition, filterOps, type WebhookFilters } from "#core/schema/webhooks/filters.ts";

/** One value of each type that a member of `data` can have; `missing` is absent. */
const data = {
  text: "Abc",
  digits: "10",
  version: "1.10.2",
  date: "2026-03-01T12:00:00.000Z",
  number: 10,
  yes: true,
  nothing: null,
  list: ["Abc", 10, true, null],
  map: { Abc: 10 },
};

const fields = ["text", "digits", "version", "date", "number", "yes", "nothing", "list", "map", "missing"];

/** Which fields (of the ten above, in that order) a condition is true for: T or a dot. */
const truths: [op: FilterCondition["op"], value: unknown, expected: string][] = [
  ["eq", "Abc", "T . . . . . . . . ."],
  ["eq", "abc", ". . . . . . . . . ."],
  ["eq", "10", ". T . . T . . . . ."],
  ["eq", 10, ". T . . T . . . . ."],
  ["eq", 10.5, ". . . . . . . . . ."],
  ["eq", true, ". . . . . T . . . ."],
  ["eq", "true", ". . . . . . . . . ."],
  ["eq", false, ". . . . . . . . . ."],
  ["eq", "2026-03-01T13:00:00+01:00", ". . . T . . . . . ."],
  ["eq", "2026-03-01", ". . . . . . . . . ."],
  ["eq", "", ". . . . . . . . . ."],
  ["neq", "Abc", ". T T T T T T T T T"],
  ["neq", "abc", "T T T T T T T T T T"],
  ["neq", 10, "T . T T . T T T T T"],
  ["neq", true, "T T T T T . T T T T"],
  ["neq", "2026-03-01T13:00:00+01:00", "T T T . T T T T T T"],
  ["gt", 9, ". T . . T . . . . ."],
  ["gt", 10, ". . . . . . . . . ."],
  ["gt", "9", ". T . . T . . . . ."],
  ["gt", "1.9", ". T T . T . . . . ."],
  ["gt", "2026-02-28", ". . . T . . . . . ."],
  ["gt", "2026-03-01T12:00:00Z", ". . . . . . . . . ."],
  ["gte", 10, ". T . . T . . . . ."],
  ["gte", 10.1, ". . . . . . . . . ."],
  ["gte", "1.10.2", ". T T . . . . . . ."],
  ["gte", "2026-03-01T12:00:00Z", ". . . T . . . . . ."],
  ["lt", 11, ". T . . T . . . . ."],
  ["lt", 10, ". . . . . . . . . ."],
  ["lt", "1.11", ". . T . . . . . . ."],
  ["lt", "2026-03-01T12:00:00.001Z", ". . . T . . . . . ."],
  ["lt", "2026-03-01T12:00:00Z", ". . . . . . . . . ."],
  ["lte", 10, ". T . . T . . . . ."],
  ["lte", 9, ". . . . . . . . . ."],
  ["lte", "1.10.2.0", ". . T . . . . . . ."],
  ["lte", "2026-03-01T14:00:00+02:00", ". . . T . . . . . ."],
  ["between", [10, 10], ". T . . T . . . . ."],
  ["between", [9, 9.5], ". . . . . . . . . ."],
  ["between", ["1.9", "1.11"], ". . T . . . . . . ."],
  ["between", ["2026-03-01", "2026-03-02"], ". . . T . . . . . ."],
  ["in", ["x", "Abc"], "T . . . . . . . . ."],
  ["in", [true, 10], ". T . . T T . . . ."],
  ["in", ["abc"], ". . . . . . . . . ."],
  ["not_in", ["x", "Abc"], ". T T T T T T T T T"],
  ["not_in", [true, 10], "T . T T . . T T T T"],
  ["contains", "b", "T . . . . . . . . ."],
  ["contains", "B", ". . . . . . . . . ."],
  ["contains", "Abc", "T . . . . . . T . ."],
  ["contains", "10", ". T T . . . . T . ."],
  ["contains", 10, ". . . . . . . T . ."],
  ["contains", true, ". . . . . . . T . ."],
  ["not_contains", "Abc", ". T T T T T T . T T"],
  ["not_contains", 10, "T T T T T T T . T T"],
  ["starts_with", "Ab", "T . . . . . . . . ."],
  ["starts_with", "ab", ". . . . . . . . . ."],
  ["starts_with", "1", ". T T . . . . . . ."],
  ["ends_with", "bc", "T . . . . . . . . ."],
  ["ends_with", "Bc", ". . . . . . . . . ."],
  ["ends_with", "Z", ". . . T . . . . . ."],
  ["exists", undefined, "T T T T T T . T T ."],
  ["not_exists", undefined, ". . . . . . T . . T"],
  ["matches_event", ["Abc", "10"], "T T . . . . . . . ."],
];

const anEvent = (members: Partial<EventEnvelope> = {}): EventEnvelope => ({
  id: "evt_1",
  type: "event.received",
  timestamp: "2026-03-01T12:00:00.000Z",
  app_id: "app_1",
  subject_id: "usr_1",
  api_version: "1.0",
  data,
  ...members,
});

const aCondition = (field: string, op: FilterCondition["op"], value?: unknown): FilterCondition =>
  value === undefined ? { field, op } : { field, op, value };

const filtersOf = (match: WebhookFilters["match"], ...conditions: FilterCondition[]): WebhookFilters => ({
  match,
  conditions,
});

const show = (value: unknown): string => (value === undefined ? "" : ` ${JSON.stringify(value)}`);

describe("a condition of a webhook's filter", () => {
  for (const [op, value, expected] of truths) {
    for (const [i, field] of fields.entries()) {
      const isTrue = expected.split(" ")[i] === "T";
      const condition = aCondition(field, op, value);
      it(`${field} ${op}${show(value)} is ${isTrue}, in each mode`, () => {
        expect({
          all: passes(filtersOf("all", condition), anEvent()),
          any: passes(filtersOf("any", condition), anEvent()),
          none: passes(filtersOf("none", condition), anEvent()),
        }).to.deep.equal({ all: isTrue, any: isTrue, none: !isTrue });
      });
    }
  }

  it("is tried with every op, and each row of the table is a valid filter", () => {
    expect(new Set(truths.map(([op]) => op))).to.deep.equal(new Set(filterOps));
    const ofNames = (op: string): string => (op === "matches_event" ? "name" : "text");
    for (const [op, value] of truths)
      expect(filterProblems(filtersOf("all", aCondition(ofNames(op), op, value)), "filters")).to.deep.equal([]);
  });

  it("compares nothing with a value that no filter may have", () => {
    for (const value of [null, undefined, {}, []])
      for (const op of ["eq", "in", "contains", "gt", "between", "starts_with", "matches_event"] as const)
        for (const field of fields)
          expect(passes({ match: "any", conditions: [{ field, op, value }] }, anEvent()), `${field} ${op}`).to.equal(
            false,
          );
  });

  it("on event names looks at custom events only", () => {
    const filters = filtersOf("all", aCondition("name", "matches_event", ["Sale"]));
    const named = { data: { name: "Sale" } };
    expect(passes(filters, anEvent(named))).to.equal(true);
    expect(passes(filters, anEvent({ data: { name: "Sale.eu" } }))).to.equal(false);
    expect(passes(filters, anEvent({ ...named, type: "campaign.started" }))).to.equal(false);
  });
});

describe("the field of a condition", () => {
  const paths: [path: string, value: string | number, found: boolean][] = [
    ["type", "event.received", true],
    ["id", "evt_1", true],
    ["app_id", "app_1", true],
    ["subject_id", "usr_1", true],
    ["timestamp", "2026-03-01T13:00:00+01:00", true],
    ["data.text", "Abc", true],
    ["text", "Abc", true],
    ["map.Abc", 10, true],
    ["data.map.Abc", 10, true],
    ["list.0", "Abc", true],
    ["list.1", 10, true],
    ["list.4", "Abc", false],
    ["list.-1", "Abc", false],
    ["list.00", "Abc", false],
    ["list.length", 4, false],
    ["text.length", 3, false],
    ["text.0", "A", false],
    ["api_version", "1.0", false],
    ["data.data.text", "Abc", false],
    ["", "Abc", false],
  ];
  for (const [path, value, isFound] of paths)
    it(`${path || "without a name"} is ${isFound ? "found" : "missing"}`, () => {
      expect(passes(filtersOf("all", aCondition(path, "eq", value)), anEvent())).to.equal(isFound);
    });

  for (const path of ["__proto__", "constructor", "constructor.name", "toString", "text.constructor", "list.map"])
    it(`${path} is missing: nothing is inherited`, () => {
      expect(passes(filtersOf("all", aCondition(path, "exists")), anEvent())).to.equal(false);
      expect(passes(filtersOf("all", aCondition(`data.${path}`, "exists")), anEvent())).to.equal(false);
    });

  it("may be an own member with such a name", () => {
    const own = JSON.parse('{"__proto__": {"constructor": "mine"}}') as Record<string, unknown>;
    const filters = filtersOf("all", aCondition("__proto__.constructor", "eq", "mine"));
    expect(passes(filters, anEvent({ data: own }))).to.equal(true);
  });
});

describe("the conditions that an event failed", () => {
  const [yes, no] = [aCondition("text", "eq", "Abc"), aCondition("text", "eq", "no")];
  const cases: [match: WebhookFilters["match"], given: FilterCondition[], failed: FilterCondition[]][] = [
    ["all", [yes, yes], []],
    ["all", [yes, no], [no]],
    ["all", [no, no], [no, no]],
    ["any", [yes, no], []],
    ["any", [no, no], [no, no]],
    ["none", [no, no], []],
    ["none", [yes, no], [yes]],
  ];
  for (const [match, given, failed] of cases)
    it(`with ${match} of ${given.map((one) => one === yes).join(", ")} are ${failed.length}`, () => {
      expect(failedConditions({ match, conditions: given }, anEvent())).to.deep.equal(failed);
      expect(passes({ match, conditions: given }, anEvent())).to.equal(failed.length === 0);
    });

  it("are none without filters", () => {
    expect(failedConditions(null, anEvent())).to.deep.equal([]);
    expect(passes(null, anEvent())).to.equal(true);
  });
});

describe("what is wrong with a filter", () => {
  const forText = ["eq", "neq", "contains", "not_contains", "starts_with", "ends_with"];
  const forOrdered = ["eq", "neq", "gt", "gte", "lt", "lte", "contains", "not_contains"];
  const forFlags = ["eq", "neq", "contains", "not_contains"];
  const cases: [op: FilterCondition["op"], value: unknown, place: string, allowed: string[]][] = [
    ["gt", "abc", "op", forText],
    ["lte", "2026-03-01T12:00:00", "op", forText],
    ["gt", "1.2.3-beta", "op", forText],
    ["gt", "-5", "op", forText],
    ["gte", true, "op", forFlags],
    ["starts_with", 5, "op", forOrdered],
    ["eq", undefined, "op", ["exists", "not_exists"]],
    ["exists", true, "op", forFlags],
    ["in", "abc", "op", forText],
    ["eq", ["a"], "op", ["in", "not_in", "matches_event"]],
    ["between", [1, 2, 3], "op", ["in", "not_in"]],
    ["between", [2, 1], "op", ["in", "not_in"]],
    ["between", [1, "2026-03-01"], "op", ["in", "not_in"]],
    ["between", ["a", "b"], "op", ["in", "not_in", "matches_event"]],
    ["matches_event", [1, 2], "op", ["in", "not_in", "between"]],
    ["matches_event", ["", "a"], "op", ["in", "not_in"]],
    ["eq", null, "value", []],
    ["eq", {}, "value", []],
    ["eq", "x".repeat(501), "value", []],
    ["in", [], "value", []],
    ["in", Array(501).fill("x"), "value", []],
    ["in", [null], "value", []],
    ["in", [["a"]], "value", []],
    ["not_in", ["x".repeat(501)], "value", []],
  ];
  for (const [op, value, place, allowed] of cases)
    it(`${op}${show(value).slice(0, 40)} is refused, with the ops that would do`, () => {
      const field = op === "matches_event" ? "name" : "text";
      const wrong = filtersOf("all", aCondition("text", "exists"), { field, op, value });
      const problems = filterProblems(wrong, "filters");
      expect(problems.map((problem) => problem.field)).to.deep.equal([`filters.conditions[1].${place}`]);
      expect(problems[0]?.allowed).to.have.members(allowed);
      expect(problems[0]?.message).to.match(new RegExp(`^${op} takes `));
    });

  it("reports paths with empty names, and event names looked for elsewhere", () => {
    const filters = filtersOf("all", aCondition("a..b", "exists"), aCondition("type", "matches_event", ["Sale"]));
    expect(filterProblems(filters, "spec.filters").map(({ field }) => field)).to.deep.equal([
      "spec.filters.conditions[0].field",
      "spec.filters.conditions[1].field",
    ]);
  });

  it("reports a filter of more than 64 KB", () => {
    const large = aCondition("text", "in", Array(400).fill("x".repeat(200)));
    expect(filterProblems(filtersOf("all", large), "filters")).to.have.lengthOf(1);
    expect(filterProblems(filtersOf("all", aCondition("text", "in", Array(500).fill("x"))), "filters")).to.deep.equal(
      [],
    );
  });
});
