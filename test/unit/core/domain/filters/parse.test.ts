import { expect } from "chai";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { filterWarnings, unseenTags } from "#core/domain/filters/warnings.ts";
import { ValidationError } from "#core/errors.ts";
import { cpuMs } from "../../../../support/until.ts";

const condition = { field: "tags.plan", op: "eq", value: "gold" };
const nested = (depth: number): object => (depth === 1 ? { all: [condition] } : { all: [nested(depth - 1)] });
const one = (field: unknown, op: unknown, value?: unknown) => ({ all: [{ field, op, value }] });

const bad: { it: string; filter: unknown; field: string; says: string }[] = [
  { it: "a text", filter: "all", field: "filter", says: "object" },
  { it: "a list", filter: [], field: "filter", says: "object" },
  { it: "nothing", filter: undefined, field: "filter", says: "object" },
  { it: "no group", filter: {}, field: "filter", says: "exactly one of all, any and none" },
  { it: "two groups", filter: { all: [], any: [] }, field: "filter", says: "exactly one" },
  { it: "a group that is no list", filter: { all: {} }, field: "filter.all", says: "list" },
  { it: "a depth of 6", filter: nested(6), field: "filter.all[0].all[0].all[0].all[0].all[0]", says: "deeper than 5" },
  {
    it: "201 conditions",
    filter: { any: Array.from({ length: 201 }, () => condition) },
    field: "filter.any[200]",
    says: "200 conditions",
  },
  { it: "64 KB", filter: { any: [{ ...condition, value: "x".repeat(70_000) }] }, field: "filter", says: "65536 bytes" },
  {
    it: "an unknown member",
    filter: { all: [{ ...condition, not: 1 }] },
    field: "filter.all[0].not",
    says: "not known",
  },
  { it: "an unknown field", filter: one("tag.plan", "eq", "x"), field: "filter.all[0].field", says: "tags.<name>" },
  { it: "a prototype", filter: one("__proto__", "eq", "x"), field: "filter.all[0].field", says: "not a field" },
  { it: "a constructor", filter: one("constructor", "eq", "x"), field: "filter.all[0].field", says: "not a field" },
  { it: "a tag with a dot", filter: one("tags.a.b", "eq", "x"), field: "filter.all[0].field", says: "not a field" },
  {
    it: "a tag that is a query",
    filter: one("tags.$where", "eq", "x"),
    field: "filter.all[0].field",
    says: "not a field",
  },
  {
    it: "a deep property",
    filter: one(`properties${".a".repeat(11)}`, "exists"),
    field: "filter.all[0].field",
    says: "not",
  },
  { it: "a field that is a number", filter: one(7, "eq", "x"), field: "filter.all[0].field", says: "not a field" },
  { it: "an op of a prototype", filter: one("tags.a", "toString", "x"), field: "filter.all[0].op", says: "not an op" },
  {
    it: "an op that does not fit",
    filter: one("language", "gt", "x"),
    field: "filter.all[0].op",
    says: "cannot be gt for language",
  },
  { it: "no value", filter: one("language", "eq"), field: "filter.all[0].value", says: "a text" },
  { it: "a value too many", filter: one("language", "exists", true), field: "filter.all[0].value", says: "left out" },
  { it: "null", filter: one("tags.a", "eq", null), field: "filter.all[0].value", says: "a text" },
  { it: "NaN", filter: one("session_count", "eq", Number.NaN), field: "filter.all[0].value", says: "a number" },
  { it: "infinity", filter: one("session_count", "gt", Infinity), field: "filter.all[0].value", says: "a number" },
  {
    it: "a query for a value",
    filter: one("external_id", "eq", { $ne: 1 }),
    field: "filter.all[0].value",
    says: "a text",
  },
  { it: "an order of texts", filter: one("tags.a", "gt", "high"), field: "filter.all[0].value", says: "a number" },
  {
    it: "a long text",
    filter: one("tags.a", "eq", "x".repeat(501)),
    field: "filter.all[0].value",
    says: "500 characters",
  },
  { it: "an empty part", filter: one("tags.a", "contains", ""), field: "filter.all[0].value", says: "1 to 500" },
  { it: "an empty list", filter: one("tags.a", "in", []), field: "filter.all[0].value", says: "1 to 500" },
  {
    it: "501 values",
    filter: one("tags.a", "in", Array(501).fill("x")),
    field: "filter.all[0].value",
    says: "1 to 500",
  },
  { it: "a list in a list", filter: one("tags.a", "in", ["x", []]), field: "filter.all[0].value[1]", says: "a text" },
  {
    it: "a range upside down",
    filter: one("session_count", "between", [2, 1]),
    field: "filter.all[0].value",
    says: "low first",
  },
  {
    it: "half a range",
    filter: one("session_count", "between", [2]),
    field: "filter.all[0].value",
    says: "two values",
  },
  { it: "an unknown channel", filter: one("channel", "eq", "fax"), field: "filter.all[0].value", says: "ios_push" },
  {
    it: "a date without a zone",
    filter: one("created_at", "gt", "2026-01-01T00:00:00"),
    field: "filter.all[0].value",
    says: "zone",
  },
  {
    it: "a 13th month",
    filter: one("created_at", "gt", "2026-13-01T00:00:00Z"),
    field: "filter.all[0].value",
    says: "ISO 8601",
  },
  {
    it: "no version",
    filter: one("device.os_version", "gt", "latest"),
    field: "filter.all[0].value",
    says: "a version",
  },
  {
    it: "a unit of a prototype",
    filter: one("created_at", "within_last", { amount: 1, unit: "toString" }),
    field: "filter.all[0].value",
    says: "minutes",
  },
  {
    it: "a fraction of time",
    filter: one("created_at", "within_last", { amount: 0.5, unit: "days" }),
    field: "filter.all[0].value",
    says: "amount",
  },
  {
    it: "seconds below 0",
    filter: one("tags.a", "time_elapsed_gt", -1),
    field: "filter.all[0].value",
    says: "at least 0",
  },
  { it: "an event without a name", filter: one("events.", "performed"), field: "filter.all[0].field", says: "not a" },
  {
    it: "a reserved event",
    filter: one("events.hs.x", "performed"),
    field: "filter.all[0].field",
    says: "not a field",
  },
  { it: "another step", filter: one("messages.read", "performed"), field: "filter.all[0].field", says: "not a field" },
  { it: "a count", filter: one("events.buy", "eq", 2), field: "filter.all[0].op", says: "cannot be eq for events.buy" },
  {
    it: "an unknown member of performed",
    filter: one("events.buy", "performed", { since: 1 }),
    field: "filter.all[0].value",
    says: "within_days",
  },
  {
    it: "never done as performed",
    filter: one("events.buy", "performed", { count: { op: "eq", value: 0 } }),
    field: "filter.all[0].value.count.value",
    says: "1 to 1000000",
  },
  {
    it: "a count by an op of a prototype",
    filter: one("events.buy", "performed", { count: { op: "toString", value: 1 } }),
    field: "filter.all[0].value.count",
    says: "gte",
  },
  {
    it: "366 days",
    filter: one("messages.opened", "not_performed", { within_days: 366 }),
    field: "filter.all[0].value.within_days",
    says: "1 to 365",
  },
  {
    it: "11 details",
    filter: one("events.buy", "performed", {
      where: Array.from({ length: 11 }, () => ({ property: "a", op: "eq", value: 1 })),
    }),
    field: "filter.all[0].value.where",
    says: "at most 10",
  },
  {
    it: "a detail with a faulty value",
    filter: one("events.buy", "performed", { where: [{ property: "a.b", op: "gt", value: "high" }] }),
    field: "filter.all[0].value.where[0].value",
    says: "a number",
  },
  {
    it: "a detail that is a query",
    filter: one("events.buy", "performed", { where: [{ property: "$where", op: "eq", value: "x" }] }),
    field: "filter.all[0].value.where[0].property",
    says: "a property",
  },
  {
    it: "a detail of messages that has no index",
    filter: one("messages.clicked", "performed", { where: [{ property: "clicked_url", op: "eq", value: "x" }] }),
    field: "filter.all[0].value.where[0].property",
    says: "message_id, channel",
  },
  {
    it: "an op of a detail that the store does not judge",
    filter: one("messages.clicked", "performed", { where: [{ property: "channel", op: "contains", value: "x" }] }),
    field: "filter.all[0].value.where[0].op",
    says: "eq, neq, in, not_in",
  },
];

describe("parseFilter", () => {
  for (const { it: what, filter, field, says } of bad)
    it(`refuses ${what}, naming where`, () => {
      const error = refusalOf(() => parseFilter(filter));
      expect(error.details["field"]).to.equal(field);
      expect(error.message).to.contain(says);
    });

  it("takes as much as is allowed", () => {
    parseFilter(nested(5));
    parseFilter({ any: Array.from({ length: 200 }, () => condition) });
    parseFilter(one("tags.a", "in", Array(500).fill("😀".repeat(4))));
  });

  it("takes what is asked of history", () => {
    const where = [{ property: "cart.total", op: "gt", value: 5 }];
    parseFilter(one("events.Order completed!", "performed"));
    parseFilter(one("events.a.b", "not_performed", { count: { op: "gt", value: 0 }, within_days: 365, where }));
    const onMail = [{ property: "channel", op: "in", value: ["email"] }];
    parseFilter(one("messages.received", "performed", { where: onMail }));
  });

  it("says what ops a field has", () => {
    const { details } = refusalOf(() => parseFilter(one("subscription.test_device", "gt", 1)));
    expect(details["allowed"]).to.deep.equal(["eq", "neq", "exists", "not_exists"]);
  });

  it("judges texts that look like costly patterns in no time", async () => {
    const texts = ["1".repeat(499) + "x", `${"1.".repeat(249)}x`, "-".repeat(500), `${"0".repeat(499)}e`];
    const judge = (): void => {
      for (const text of texts)
        for (const field of ["tags.a", "device.os_version", "created_at"]) tryTo(one(field, "eq", text));
    };
    expect(await cpuMs(judge)).to.be.below(500);
  });
});

describe("filterWarnings", () => {
  const warned = (filter: object) => filterWarnings(parseFilter(filter));

  it("names negative conditions of one field of which any is enough", () => {
    const two = [
      { ...condition, op: "neq" },
      { ...condition, op: "neq", value: "silver" },
    ];
    expect(warned({ any: two }).join()).to.match(/^filter\.any: several negative conditions on tags\.plan/);
    expect(warned({ all: two })).to.deep.equal([]);
  });

  it("names empty groups, and what is true for everyone", () => {
    const filter = { all: [{ any: [] }, { field: "created_at", op: "exists" }, condition] };
    expect(warned(filter)).to.deep.equal([
      "filter.all[0].any: is empty, so it is false for everyone",
      "filter.all[1]: is true for everyone",
    ]);
  });

  it("names tags that nobody has", () => {
    const tree = parseFilter({ all: [condition, { any: [{ field: "tags.plam", op: "exists" }, condition] }] });
    const { left, see } = unseenTags(tree);
    see({ tags: { plan: "silver" } });
    expect(filterWarnings(tree, [...left])).to.deep.equal(["filter.all[1].any[0]: nobody has the tag plam"]);
  });
});

const tryTo = (filter: object): void => {
  try {
    parseFilter(filter);
  } catch (error) {
    expect(error).to.be.instanceOf(ValidationError);
  }
};

const refusalOf = (run: () => unknown): ValidationError => {
  try {
    run();
  } catch (error) {
    if (error instanceof ValidationError) return error;
    throw error;
  }
  throw new Error("was not refused");
};
