import { expect } from "chai";
import { type LocalTime, localTimes } from "#core/domain/messages/local-time.ts";
import { timeOfDayMs } from "#core/domain/messages/time-of-day.ts";
import { zoneSpans } from "#core/domain/zone-spans.ts";

const hour = 3_600_000;

const dueIn = (zone: string, start: string, timeMs: number | null, over: Partial<LocalTime> = {}): string | null =>
  localTimes({ start: new Date(start), timeMs, appZone: "UTC", missed: "next_day", ...over })(zone)?.toISOString() ??
  null;

describe("local times", () => {
  const cases: { it: string; zone: string; start: string; at: number; due: string }[] = [
    { it: "today's", zone: "Asia/Kolkata", start: "2026-03-01T00:00Z", at: 9, due: "2026-03-01T03:30:00.000Z" },
    {
      it: "this very moment",
      zone: "Asia/Kolkata",
      start: "2026-03-01T03:30Z",
      at: 9,
      due: "2026-03-01T03:30:00.000Z",
    },
    {
      it: "tomorrow's once it has passed",
      zone: "Asia/Kolkata",
      start: "2026-03-01T03:30:01Z",
      at: 9,
      due: "2026-03-02T03:30:00.000Z",
    },
    {
      it: "of a gap in Berlin its end",
      zone: "Europe/Berlin",
      start: "2026-03-28T12:00Z",
      at: 2.5,
      due: "2026-03-29T01:00:00.000Z",
    },
    {
      it: "of an overlap in Berlin the first",
      zone: "Europe/Berlin",
      start: "2026-10-24T12:00Z",
      at: 2.5,
      due: "2026-10-25T00:30:00.000Z",
    },
    {
      it: "of an overlap whose first has passed tomorrow's",
      zone: "Europe/Berlin",
      start: "2026-10-25T00:45Z",
      at: 2.5,
      due: "2026-10-26T01:30:00.000Z",
    },
    {
      it: "of a gap in New York its end",
      zone: "America/New_York",
      start: "2026-03-08T00:00Z",
      at: 2.5,
      due: "2026-03-08T07:00:00.000Z",
    },
    {
      it: "of an overlap in New York the first",
      zone: "America/New_York",
      start: "2026-11-01T00:00Z",
      at: 1.5,
      due: "2026-11-01T05:30:00.000Z",
    },
    {
      it: "of half an hour's gap on Lord Howe its end",
      zone: "Australia/Lord_Howe",
      start: "2026-10-03T00:00Z",
      at: 2.25,
      due: "2026-10-03T15:30:00.000Z",
    },
    {
      it: "of a gap at midnight in Santiago its end",
      zone: "America/Santiago",
      start: "2026-09-05T12:00Z",
      at: 0,
      due: "2026-09-06T04:00:00.000Z",
    },
    {
      it: "of a day that Apia left out that of the next",
      zone: "Pacific/Apia",
      start: "2011-12-30T09:00Z",
      at: 9,
      due: "2011-12-30T19:00:00.000Z",
    },
    {
      it: "in Apia today, a day ahead",
      zone: "Pacific/Apia",
      start: "2026-11-27T00:00Z",
      at: 12,
      due: "2026-11-27T23:00:00.000Z",
    },
    {
      it: "of a zone by its old name",
      zone: "Asia/Calcutta",
      start: "2026-03-01T00:00Z",
      at: 9,
      due: "2026-03-01T03:30:00.000Z",
    },
    {
      it: "of no zone the app's",
      zone: "Mars/Olympus",
      start: "2026-03-01T00:00Z",
      at: 9,
      due: "2026-03-01T09:00:00.000Z",
    },
    {
      it: "over the end of a year",
      zone: "America/New_York",
      start: "2026-12-31T15:00Z",
      at: 9,
      due: "2027-01-01T14:00:00.000Z",
    },
  ];
  for (const { it: which, zone, start, at, due } of cases)
    it(`are ${which}`, () => expect(dueIn(zone, start, at * hour)).to.equal(due));

  it("are the time in the app's zone at the start where none is said", () => {
    const start = "2026-03-01T08:00:00Z"; // 9:00 in Berlin
    expect(dueIn("America/New_York", start, null, { appZone: "Europe/Berlin" })).to.equal("2026-03-01T14:00:00.000Z");
    expect(dueIn("Europe/Berlin", start, null, { appZone: "Europe/Berlin" })).to.equal("2026-03-01T08:00:00.000Z");
  });

  it("are now, or never, where they have passed on the app's day and it is asked for", () => {
    const of = { start: "2026-11-27T06:00:00Z", tokyo: "Asia/Tokyo", york: "America/New_York" }; // 15:00 and 1:00
    expect(dueIn(of.tokyo, of.start, 9 * hour, { missed: "send_now" })).to.equal("2026-11-27T06:00:00.000Z");
    expect(dueIn(of.tokyo, of.start, 9 * hour, { missed: "skip" })).to.equal(null);
    expect(dueIn(of.york, of.start, 9 * hour, { missed: "skip" })).to.equal("2026-11-27T14:00:00.000Z");
    expect(dueIn(of.tokyo, of.start, 9 * hour)).to.equal("2026-11-28T00:00:00.000Z");
  });

  it("know every zone of Node, and no offset or other word", () => {
    const at = new Date("2026-11-27T06:00:00Z");
    for (const name of ["Europe/Kyiv", "Antarctica/Troll", "Africa/Casablanca", "US/Eastern", "UTC"])
      expect(zoneSpans(name, at), name).to.be.an("array");
    for (const name of ["", "+02:00", "Europe/Atlantis"]) expect(zoneSpans(name, at), name).to.equal(null);
  });
});

describe("times of day", () => {
  const spellings: [string, number | null][] = [
    ["9:00", 9 * hour],
    ["09:00", 9 * hour],
    ["9:45:30", 9 * hour + 45 * 60_000 + 30_000],
    ["21:45", 21.75 * hour],
    ["9:00AM", 9 * hour],
    ["9:00 pm", 21 * hour],
    ["12:00AM", 0],
    ["12:30PM", 12.5 * hour],
    ["00:00", 0],
    ["24:00", null],
    ["13:00PM", null],
    ["0:00AM", null],
    ["9", null],
    ["9:5", null],
    ["9:60", null],
    ["9:00:00 AM", null],
  ];
  for (const [text, ms] of spellings) it(`read ${text}`, () => expect(timeOfDayMs(text)).to.equal(ms));
});
