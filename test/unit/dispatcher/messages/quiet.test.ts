import { expect } from "chai";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ClockOf } from "#core/storage/people/zones.ts";
import { quietHours } from "../../../../dispatcher/messages/timing/quiet.ts";
import { aChunk, aMessage, anApp } from "../../../support/rows/work.ts";

const night = {
  enabled: true,
  start: "22:00:00",
  end: "07:00:00",
  timezone: "user",
  days: null,
  channels: null,
  mode: "hold",
};

describe("quiet hours of a run", () => {
  const clock = (over: Partial<ClockOf> = {}): ClockOf => ({
    zone: null,
    country: null,
    quietHours: undefined,
    ...over,
  });
  const quietOf = async (clocks: Record<string, ClockOf>) => {
    const app = anApp({ quiet_hours: night, time_zone: "Europe/Berlin" } as object);
    const quiet = await quietHours(() => Promise.resolve(new Map(Object.entries(clocks))))(
      { app, message: aMessage(), chunk: aChunk() },
      [],
    );
    return (id: string, at: string) => quiet?.untilOf({ _id: id } as Reached, new Date(at)) !== null;
  };

  it("begin and end for all of a zone with the same second", async () => {
    const isQuiet = await quietOf({ a: clock({ zone: "Asia/Tokyo" }), b: clock({ zone: "Asia/Tokyo" }) });
    const at = ["12:59:59.999", "13:00:00.000", "21:59:59.999", "22:00:00.000"].map((time) => `2026-06-01T${time}Z`);
    for (const id of ["a", "b", "a"])
      expect(at.map((one) => isQuiet(id, one))).to.deep.equal([false, true, true, false]);
  });

  it("are those of each zone, of each country without one, and of whoever has their own", async () => {
    const isQuiet = await quietOf({
      tokyo: clock({ zone: "Asia/Tokyo" }),
      lima: clock({ zone: "America/Lima" }),
      peru: clock({ country: "PE" }),
      unknown: clock(),
      own: clock({ zone: "America/Lima", quietHours: { start: "08:00", end: "12:00" } }),
      none: clock({ zone: "Asia/Tokyo", quietHours: { enabled: false } }),
    });
    const quiet = (at: string) => ["tokyo", "lima", "peru", "unknown", "own", "none"].filter((id) => isQuiet(id, at));
    expect(quiet("2026-06-01T14:00:00Z")).to.deep.equal(["tokyo", "own"]); // 23:00 in Tokyo, 9:00 in Lima, 16:00 in Berlin
    expect(quiet("2026-06-01T04:00:00Z")).to.deep.equal(["lima", "peru", "unknown"]); // 13:00, 23:00, 6:00
  });
});
