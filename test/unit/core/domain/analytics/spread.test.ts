import { expect } from "chai";
import { type DayTable, withQuarter } from "#core/domain/analytics/day-table.ts";
import { boundsOf, type CalendarUnit, calendarUnits, hoursOfQuarters } from "#core/domain/analytics/intervals.ts";
import { plainAxis, spread, weekAxis } from "#core/domain/analytics/spread.ts";
import { dayMs, hourMs, quarterMs } from "#core/domain/durations.ts";
import { dayOf } from "#core/domain/events/days.ts";
import { zones as changingZones } from "../../../../support/analytics/people.ts";
import { seeded } from "../../../../support/filters/random.ts";

const zones = [...changingZones, "Pacific/Apia"] as const; // where a day was left out

/** What clocks of a zone show, by Intl alone: `2026-03-29 Sun 03`. */
const shownBy = (zone: string) => {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    weekday: "short",
  });
  return (ms: number): Record<string, string> =>
    Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
};

/** About when clocks change, in one of the zones or another; and when the Samoan day was left out. */
const seasons = [Date.UTC(2026, 2, 29), Date.UTC(2026, 3, 5), Date.UTC(2026, 10, 1), Date.UTC(2011, 11, 30)];

const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/** Names the unit that clocks are in. A plain program that knows nothing of instants at which units begin. */
const nameOf = (unit: CalendarUnit, shown: Record<string, string>): string => {
  const { year, month, day, hour, weekday = "" } = shown;
  if (unit === "month") return `${year}-${month}`;
  if (unit === "week") {
    const noon = Date.UTC(Number(year), Number(month) - 1, Number(day) - weekdays.indexOf(weekday));
    return new Date(noon).toISOString().slice(0, 10);
  }
  return unit === "day" ? `${year}-${month}-${day}` : `${year}-${month}-${day} ${hour}`;
};

const key = JSON.stringify("all");

describe("counters spread over intervals", () => {
  const random = seeded(35);
  const anyInt = (below: number): number => Math.floor(random() * below);

  /** Random deliveries in quarters of an hour, and the days that hold them. */
  const history = (from: number, to: number) => {
    const quarters = new Map<number, number>();
    for (let n = 0; n < 200; n++) {
      const at = from + anyInt((to - from) / quarterMs) * quarterMs;
      quarters.set(at, (quarters.get(at) ?? 0) + 1 + anyInt(3));
    }
    const tables = new Map<number, DayTable>();
    for (const [at, sent] of quarters) {
      const day = dayOf(new Date(at)).getTime();
      const entries = [{ key, counts: { sent } }];
      tables.set(day, withQuarter(tables.get(day) ?? null, (at - day) / quarterMs, entries));
    }
    return { quarters, tables };
  };

  for (const zone of zones)
    it(`are what a plain program counts by the clocks of ${zone}, over both changes of clocks`, () => {
      const shown = shownBy(zone);
      for (const [unit, changes] of calendarUnits.flatMap((one) => seasons.map((season) => [one, season] as const))) {
        const length = unit === "month" ? 36 * dayMs : 12 * dayMs;
        const start = changes - anyInt(length / quarterMs) * quarterMs;
        const range = { from: new Date(start), to: new Date(start + length + anyInt(96) * quarterMs) };
        const { quarters, tables } = history(start - 3 * dayMs, start + length + 3 * dayMs);
        const bounds = boundsOf(range, unit, { zone, most: 1_000 }) ?? [];
        const counted = new Float64Array(bounds.length - 1);
        const axis = plainAxis(bounds);
        const { whole, cut } = axis.days;
        const read = [whole, cut].flatMap((days, n) =>
          days.flatMap((day) => {
            const { keys, sums, quarters: of } = tables.get(day.getTime()) ?? {};
            return keys && sums && of ? [{ day, keys, ...(n === 0 ? { sums } : { quarters: of }) }] : [];
          }),
        );
        for (const day of read) spread(day, { axis, metrics: ["sent"] }, () => counted);
        const plain = new Map<string, number>();
        for (let ms = range.from.getTime(); ms < range.to.getTime(); ms += quarterMs) {
          const name = nameOf(unit, shown(ms));
          const ofUnit = (plain.get(name) ?? 0) + (quarters.get(ms) ?? 0);
          plain.set(name, ofUnit);
        }
        const named = new Map<string, number>();
        for (const [n, at] of bounds.slice(0, -1).entries()) {
          const name = nameOf(unit, shown(at.getTime()));
          named.set(name, (named.get(name) ?? 0) + (counted[n] ?? 0));
        }
        expect([...named], `${unit} from ${range.from.toISOString()}`).to.deep.equal([...plain]);
        if (unit !== "hour") expect(named.size, unit).to.equal(bounds.length - 1);
      }
    });

  it("are in the hour of the week that clocks show", () => {
    for (const zone of zones) {
      const shown = shownBy(zone);
      for (let n = 0; n < 10; n++) {
        const ms = Date.UTC(2026, 0, 1) + anyInt(365 * 96) * quarterMs;
        const { weekday = "", hour } = shown(ms);
        const hours = hoursOfQuarters(Math.floor(ms / dayMs) * dayMs, zone);
        expect(hours[(ms % dayMs) / quarterMs]).to.equal(weekdays.indexOf(weekday) * 24 + Number(hour));
      }
    }
  });

  it("count at the hours of the week of their range alone, an hour twice that clocks show twice", () => {
    const range = { from: new Date("2026-10-24T22:30:00Z"), to: new Date("2026-10-25T03:15:00Z") }; // Sunday in Berlin, from 0:30 to 4:15
    const axis = weekAxis(range, "Europe/Berlin");
    const counted = new Float64Array(axis.points);
    for (const day of axis.days.cut) {
      let table: DayTable | null = null;
      for (let n = 0; n < 96; n++) table = withQuarter(table, n, [{ key, counts: { sent: 1 } }]);
      spread({ day, keys: [key], quarters: table?.quarters ?? {} }, { axis, metrics: ["sent"] }, () => counted);
    }
    const sunday = 6 * 24;
    expect([...counted].flatMap((count, n) => (count > 0 ? [[n - sunday, count]] : []))).to.deep.equal([
      [0, 2],
      [1, 4],
      [2, 8],
      [3, 4],
      [4, 1],
    ]);
  });

  it("need the quarters of days that are cut alone", () => {
    const range = { from: new Date("2026-01-01T00:00:00Z"), to: new Date("2027-01-01T00:00:00Z") };
    const cutBy = (unit: CalendarUnit, zone: string): number =>
      plainAxis(boundsOf(range, unit, { zone, most: 1_000 }) ?? []).days.cut.length;
    expect([cutBy("day", "UTC"), cutBy("day", "Europe/Berlin")]).to.deep.equal([0, 365]);
    expect([cutBy("month", "UTC"), cutBy("month", "Europe/Berlin")]).to.deep.equal([0, 12]);
  });

  it("are not more intervals than may be", () => {
    const range = { from: new Date(0), to: new Date(1_001 * hourMs) };
    expect(boundsOf(range, "hour", { zone: "UTC", most: 1_000 })).to.equal(null);
    expect(boundsOf(range, "hour", { zone: "UTC", most: 1_001 })).to.have.length(1_002);
  });
});
