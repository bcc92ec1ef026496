import { expect } from "chai";
import { type KnownClock, type QuietHours, quietUntil } from "#core/domain/messages/quiet-hours.ts";

const night: QuietHours = {
  enabled: true,
  start: "22:00",
  end: "08:00",
  days: null,
  timezone: "user",
  channels: null,
  mode: "hold",
};

const until = (now: string, clock: Partial<KnownClock> = {}, over: Partial<QuietHours> = {}): string | null =>
  quietUntil(
    { ...night, ...over },
    { clock: { zone: null, country: null, quietHours: null, ...clock }, appZone: "Europe/Berlin", now: new Date(now) },
  )?.toISOString() ?? null;

describe("quiet hours", () => {
  const kolkata = { zone: "Asia/Kolkata" }; // 5:30 ahead
  const cases: { it: string; got: string | null; expect: string | null }[] = [
    { it: "begin at their start", got: until("2026-03-01T16:30Z", kolkata), expect: "2026-03-02T02:30:00.000Z" },
    { it: "have not begun a second before", got: until("2026-03-01T16:29:59Z", kolkata), expect: null },
    { it: "go on after midnight", got: until("2026-03-02T02:29:59Z", kolkata), expect: "2026-03-02T02:30:00.000Z" },
    { it: "are over at their end", got: until("2026-03-02T02:30Z", kolkata), expect: null },
    { it: "end later where clocks are put back", got: until("2026-10-25T00:00Z"), expect: "2026-10-25T07:00:00.000Z" },
    {
      it: "end earlier where clocks are put forward",
      got: until("2026-03-29T00:00Z"),
      expect: "2026-03-29T06:00:00.000Z",
    },
    {
      it: "are the app's of a zone that is none",
      got: until("2026-03-01T22:00Z", { zone: "Mars/X" }),
      expect: "2026-03-02T07:00:00.000Z",
    },
    {
      it: "are those of the only zone of a country",
      got: until("2026-03-01T16:30Z", { country: "IN" }),
      expect: "2026-03-02T02:30:00.000Z",
    },
    {
      it: "last while any zone of a country is quiet",
      got: until("2026-03-01T13:30Z", { country: "US" }),
      expect: "2026-03-01T18:00:00.000Z",
    },
    {
      it: "are those of a zone that the app names",
      got: until("2026-03-01T16:30Z", {}, { timezone: "Asia/Kolkata" }),
      expect: "2026-03-02T02:30:00.000Z",
    },
    {
      it: "may be by day",
      got: until("2026-03-01T12:00Z", {}, { start: "12:00", end: "14:00" }),
      expect: "2026-03-01T13:00:00.000Z",
    },
    {
      it: "belong to the day on which they begin",
      got: until("2026-03-02T05:00Z", {}, { days: ["sunday"] }),
      expect: "2026-03-02T07:00:00.000Z",
    },
    { it: "are not on other days", got: until("2026-03-02T22:00Z", {}, { days: ["sunday"] }), expect: null },
    {
      it: "may be a person's own",
      got: until("2026-03-01T12:00Z", { quietHours: { start: "13:00", end: "15:00" } }),
      expect: "2026-03-01T14:00:00.000Z",
    },
    {
      it: "may be none for a person",
      got: until("2026-03-01T22:00Z", { quietHours: { enabled: false } }),
      expect: null,
    },
    {
      it: "are the app's where a person's cannot be read",
      got: until("2026-03-01T22:00Z", { quietHours: { start: 7, end: "x" } }),
      expect: "2026-03-02T07:00:00.000Z",
    },
    {
      it: "are none when they are switched off",
      got: until("2026-03-01T22:00Z", {}, { enabled: false }),
      expect: null,
    },
  ];
  for (const { it: what, got, expect: wanted } of cases) it(what, () => expect(got).to.equal(wanted));
});
