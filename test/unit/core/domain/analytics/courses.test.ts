import { expect } from "chai";
import { type CourseCount, courseOf } from "#core/domain/analytics/courses.ts";
import { dayMs, hourMs, quarterMs } from "#core/domain/durations.ts";

const begunAt = new Date("2026-03-28T20:07:30Z"); // the evening before clocks change in Berlin
const minuteOf = (ms: number): number => Math.floor((begunAt.getTime() + ms) / 60_000) * 60_000;
const quarterOf = (ms: number): number => Math.floor((begunAt.getTime() + ms) / quarterMs) * quarterMs;
const counts: CourseCount[] = [
  { step: "sent", at_ms: minuteOf(0), count: 9 },
  { step: "opened", at_ms: minuteOf(61_000), count: 2 },
  { step: "opened", at_ms: minuteOf(5 * hourMs), count: 1 },
  { step: "clicked", at_ms: quarterOf(2 * dayMs), count: 1 },
];
const shown = (interval: "minute" | "hour" | "day", zone = "Europe/Berlin") =>
  courseOf(counts, { begunAt, interval, zone }).map(({ at, sent, opened, clicked }) => [
    at.toISOString(),
    sent,
    opened,
    clicked,
  ]);

describe("the course of a message", () => {
  it("has a point for each minute of its first day", () => {
    const points = shown("minute");
    expect(points).to.have.length(1_440);
    expect(points.slice(0, 3)).to.deep.equal([
      ["2026-03-28T20:07:00.000Z", 9, 0, 0],
      ["2026-03-28T20:08:00.000Z", 0, 2, 0],
      ["2026-03-28T20:09:00.000Z", 0, 0, 0],
    ]);
  });

  it("has days by the clocks of a zone, until the last thing that happened", () => {
    expect(shown("day")).to.deep.equal([
      ["2026-03-28T20:00:00.000Z", 9, 2, 0],
      ["2026-03-28T23:00:00.000Z", 0, 1, 0],
      ["2026-03-29T22:00:00.000Z", 0, 0, 1],
    ]);
    expect(shown("day", "Asia/Kathmandu").map(([at]) => at)).to.deep.equal([
      "2026-03-28T20:00:00.000Z",
      "2026-03-29T18:15:00.000Z",
      "2026-03-30T18:15:00.000Z",
    ]);
  });

  it("has hours, and zeros where nothing happened", () => {
    const points = shown("hour");
    expect(points).to.have.length(49);
    expect(
      points.filter(([, sent, opened, clicked]) => Number(sent) + Number(opened) + Number(clicked) > 0),
    ).to.deep.equal([
      ["2026-03-28T20:00:00.000Z", 9, 2, 0],
      ["2026-03-29T01:00:00.000Z", 0, 1, 0],
      ["2026-03-30T20:00:00.000Z", 0, 0, 1],
    ]);
  });

  it("is bounded, and empty before anything happened", () => {
    const late: CourseCount[] = [{ step: "opened", at_ms: quarterOf(700 * dayMs), count: 1 }];
    const points = (interval: "hour" | "day") => courseOf(late, { begunAt, interval, zone: "UTC" });
    expect([points("hour").length, points("day").length]).to.deep.equal([720, 400]);
    expect(courseOf([], { begunAt, interval: "day", zone: "UTC" })).to.deep.equal([]);
  });
});
