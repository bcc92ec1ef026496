import { expect } from "chai";
import { dueWindowEnd, neverRuns, nextRunAt } from "#core/domain/warehouse/schedule.ts";
import type { WarehouseSchedule } from "#core/schema/warehouse/export.ts";

const daily: WarehouseSchedule = { frequency: "24h", start_at: "00:00", timezone: "UTC", exclude_window: null };
const at = (text: string): Date => new Date(`${text}Z`);

describe("the schedule of a warehouse export", () => {
  const cases: { it: string; schedule?: Partial<WarehouseSchedule>; since: string; now: string; end: string | null }[] =
    [
      {
        it: "closes a window a quarter of an hour after its end",
        since: "2026-11-20T00:00",
        now: "2026-11-21T00:15",
        end: "2026-11-21T00:00",
      },
      { it: "does not close it before", since: "2026-11-20T00:00", now: "2026-11-21T00:14", end: null },
      { it: "has begun a window once", since: "2026-11-21T00:00", now: "2026-11-21T00:20", end: null },
      {
        it: "makes up for missed runs with one window",
        since: "2026-11-01T00:00",
        now: "2026-11-21T09:00",
        end: "2026-11-21T00:00",
      },
      {
        it: "runs every quarter",
        schedule: { frequency: "15m" },
        since: "2026-11-21T09:00",
        now: "2026-11-21T09:31",
        end: "2026-11-21T09:15",
      },
      {
        it: "goes round the clock from its first run",
        schedule: { frequency: "12h", start_at: "18:30" },
        since: "2026-11-20T20:00",
        now: "2026-11-21T07:00",
        end: "2026-11-21T06:30",
      },
      {
        it: "goes by the clocks of its zone",
        schedule: { start_at: "02:00", timezone: "Asia/Kolkata" },
        since: "2026-11-20T00:00",
        now: "2026-11-20T21:00",
        end: "2026-11-20T20:30",
      },
      {
        it: "leaves out the excluded window",
        schedule: { frequency: "1h", exclude_window: { start: "22:00", end: "06:00" } },
        since: "2026-11-20T21:00",
        now: "2026-11-21T05:30",
        end: null,
      },
      {
        it: "runs at the end of the excluded window",
        schedule: { frequency: "1h", exclude_window: { start: "22:00", end: "06:00" } },
        since: "2026-11-20T21:00",
        now: "2026-11-21T06:20",
        end: "2026-11-21T06:00",
      },
      {
        it: "runs at the moment at which clocks are put forward over its time",
        schedule: { start_at: "02:30", timezone: "Europe/Berlin" },
        since: "2026-03-28T12:00",
        now: "2026-03-29T02:00",
        end: "2026-03-29T01:00",
      },
      {
        it: "runs once at a time that clocks show twice",
        schedule: { frequency: "24h", start_at: "02:30", timezone: "Europe/Berlin" },
        since: "2026-10-25T00:30",
        now: "2026-10-25T03:00",
        end: null,
      },
    ];
  for (const { it: name, schedule, since, now, end } of cases)
    it(name, () => {
      expect(dueWindowEnd({ ...daily, ...schedule }, at(since), at(now))).to.deep.equal(end === null ? null : at(end));
    });

  it("says when the next window is exported", () => {
    expect(nextRunAt(daily, at("2026-11-21T00:00"), at("2026-11-21T08:00"))).to.deep.equal(at("2026-11-22T00:15"));
    expect(nextRunAt(daily, at("2026-11-19T00:00"), at("2026-11-21T00:10"))).to.deep.equal(at("2026-11-21T00:15"));
  });

  it("is refused that leaves no time for a run", () => {
    expect(neverRuns({ ...daily, exclude_window: { start: "23:00", end: "01:00" } })).to.equal(true);
    expect(neverRuns({ ...daily, exclude_window: { start: "01:00", end: "23:00" } })).to.equal(false);
  });
});
