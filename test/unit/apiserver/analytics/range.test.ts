import { expect } from "chai";
import { dayMs, hourMs } from "#core/domain/durations.ts";
import { ValidationError } from "#core/errors.ts";
import { askedRange, type RangeQuery } from "../../../../apiserver/analytics/range.ts";

const facts = { now: new Date("2026-11-27T12:10:00Z"), zone: "Europe/Berlin", keptDays: 730 };
const ask = (query: RangeQuery, more: Partial<typeof facts> = {}) => askedRange(query, { ...facts, ...more });
const text = (range: { from: Date; to: Date } | null) =>
  range && [range.from.toISOString().slice(0, 16), range.to.toISOString().slice(0, 16)];

describe("a range of analytics", () => {
  it("is the last 30 days up to the hour that runs, by the clocks of the app", () => {
    const { range, previous, timezone, clamped, completeFrom } = ask({});
    expect(text(range)).to.deep.equal(["2026-10-28T13:00", "2026-11-27T13:00"]);
    expect([previous, timezone, clamped, completeFrom]).to.deep.equal([null, "Europe/Berlin", false, range.from]);
  });

  it("at a full hour reaches to the next one", () => {
    expect(text(ask({}, { now: new Date("2026-11-27T12:00:00Z") }).range)?.[1]).to.equal("2026-11-27T13:00");
  });

  const refused: readonly (readonly [string, RangeQuery, string])[] = [
    ["reversed", { from: "2026-11-02T00:00:00Z", to: "2026-11-01T00:00:00Z" }, "to"],
    ["empty", { from: "2026-11-01T00:00:00Z", to: "2026-11-01T00:00:00Z" }, "to"],
    ["of 401 days", { from: "2025-10-23T00:00:00Z", to: "2026-11-28T00:00:00Z" }, "from"],
    ["that begins within an hour", { from: "2026-11-01T00:30:00Z" }, "from"],
    ["that ends within an hour", { to: "2026-11-01T00:00:00.001Z" }, "to"],
    ["at no instant", { to: "2026-11-01T23:59:60Z" }, "to"],
    ["in no zone", { timezone: "Europe/Atlantis" }, "timezone"],
  ];
  for (const [what, query, field] of refused)
    it(`${what} is refused by the name of its member`, () => {
      expect(() => ask(query))
        .to.throw(ValidationError)
        .with.nested.property("details.field", field);
    });

  it("of 400 days is taken", () => {
    const { range } = ask({ from: "2025-10-24T00:00:00+00:00", to: "2026-11-28T00:00:00Z" });
    expect((range.to.getTime() - range.from.getTime()) / dayMs).to.equal(400);
  });

  it("begins no earlier than what the plan keeps, and says so", () => {
    const { range, clamped, completeFrom } = ask({ from: "2026-01-01T00:00:00Z" }, { keptDays: 30 });
    expect(text(range)).to.deep.equal(["2026-10-28T13:00", "2026-11-27T13:00"]);
    expect([clamped, completeFrom]).to.deep.equal([true, range.from]);
    const gone = ask({ from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z" }, { keptDays: 30 });
    expect([gone.range.from, gone.clamped]).to.deep.equal([gone.range.to, true]);
  });

  it("is complete for the 800 days whose hours are kept", () => {
    const { range, clamped, completeFrom } = ask(
      { from: "2024-09-01T00:00:00Z", to: "2025-01-01T00:00:00Z" },
      { keptDays: 3_650 },
    );
    expect([text(range)?.[0], clamped]).to.deep.equal(["2024-09-01T00:00", false]);
    expect(completeFrom.toISOString()).to.equal("2024-09-18T13:00:00.000Z");
  });

  it("is compared by the clocks of its zone, also when these were changed between both", () => {
    const week = { from: "2026-10-26T00:00:00+01:00", to: "2026-11-02T00:00:00+01:00" };
    expect(text(ask({ ...week, compare: "previous_period" }).previous)).to.deep.equal([
      "2026-10-18T22:00", // midnight in summer
      "2026-10-25T23:00",
    ]);
    const summer = { from: "2026-03-29T00:00:00+01:00", to: "2026-03-30T00:00:00+02:00" }; // 23 hours
    expect(text(ask({ ...summer, compare: "previous_year" }).previous)).to.deep.equal([
      "2025-03-28T23:00",
      "2025-03-29T23:00",
    ]);
  });

  it("of 29 February is compared with the 28th", () => {
    const day = { from: "2024-02-29T00:00:00Z", to: "2024-03-01T00:00:00Z", timezone: "UTC" };
    const { previous } = ask({ ...day, compare: "previous_year" }, { now: new Date("2024-03-05T00:00:00Z") });
    expect(text(previous)).to.deep.equal(["2023-02-28T00:00", "2023-03-01T00:00"]);
  });

  it("is compared with nothing of which a part is not kept", () => {
    const week = { from: "2026-11-10T00:00:00Z", to: "2026-11-20T00:00:00Z" };
    expect(ask({ ...week, compare: "previous_period" }, { keptDays: 20 }).previous).to.equal(null);
  });

  it("is refused where clocks changed by half an hour between both", () => {
    const zone = { timezone: "Australia/Lord_Howe" }; // 10:30 and 11:00; 4 October 2026
    const from = "2026-10-10T00:00:00+11:00";
    expect(() => ask({ ...zone, from, to: "2026-10-20T00:00:00+11:00", compare: "previous_period" }))
      .to.throw(ValidationError)
      .with.nested.property("details.field", "compare");
  });

  const zones =
    "Europe/Berlin America/New_York America/St_Johns Asia/Kolkata Asia/Kathmandu Asia/Tokyo Australia/Adelaide Pacific/Auckland Pacific/Apia America/Sao_Paulo Africa/Casablanca UTC".split(
      " ",
    );
  it("that is compared shows the same clocks in each of twelve zones", () => {
    for (const timezone of zones) {
      const clock = new Intl.DateTimeFormat("en-GB", { timeZone: timezone, timeStyle: "short" });
      for (let n = 0; n < 24; n++) {
        const from = new Date(Date.UTC(2025, 2 + n / 2, 1 + n, n));
        const to = new Date(from.getTime() + 7 * dayMs);
        const query = { from: from.toISOString(), to: to.toISOString(), timezone, compare: "previous_year" as const };
        const { previous } = ask(query, { keptDays: 3_650 });
        if (previous === null) throw new Error("it is kept");
        expect(clock.format(previous.from), `${timezone} ${query.from}`).to.equal(clock.format(from));
        expect(clock.format(previous.to), `${timezone} ${query.to}`).to.equal(clock.format(to));
        expect(previous.from.getTime() % hourMs).to.equal(0);
      }
    }
  });
});
