import { expect } from "chai";
import { capsOn, countedSince } from "#core/domain/messages/caps.ts";
import type { FrequencyCap } from "#core/schema/apps/frequency-cap.ts";

const cap = (change: Partial<FrequencyCap> = {}): FrequencyCap => ({
  name: "daily",
  max: 1,
  per: "day",
  window: "rolling",
  scope: "user",
  channels: null,
  categories: null,
  ...change,
});

describe("frequency caps", () => {
  const message = { category: "news", channel: "email", isNeverCapped: false } as const;
  const table: { it: string; cap?: Partial<FrequencyCap>; of?: object; exempt?: string[]; falls: boolean }[] = [
    { it: "all", falls: true },
    { it: "its channel", cap: { channels: ["email"] }, falls: true },
    { it: "another channel", cap: { channels: ["sms"] }, falls: false },
    { it: "its category", cap: { categories: ["news"] }, falls: true },
    { it: "another category", cap: { categories: ["offers"] }, falls: false },
    {
      it: "a category, where the message has none",
      cap: { categories: ["news"] },
      of: { category: null },
      falls: false,
    },
    { it: "all, where its category is exempt", exempt: ["news"], falls: false },
    { it: "all, where it is a test or a change of a live activity", of: { isNeverCapped: true }, falls: false },
  ];
  for (const { it: what, cap: change, of = {}, exempt = [], falls } of table)
    it(`of ${what} ${falls ? "count" : "do not count"} a message`, () => {
      const settings = { frequency_caps: [cap(change)], exempt_categories: exempt };
      expect(capsOn(settings, { ...message, ...of })).to.have.length(falls ? 1 : 0);
    });

  const starts: { zone: string; per: FrequencyCap["per"]; now: string; since: string }[] = [
    { zone: "Asia/Kolkata", per: "day", now: "2026-03-01T12:00:00Z", since: "2026-02-28T18:30:00Z" },
    { zone: "Asia/Kolkata", per: "hour", now: "2026-03-01T12:10:00Z", since: "2026-03-01T11:30:00Z" },
    { zone: "UTC", per: "minute", now: "2026-03-01T12:10:30Z", since: "2026-03-01T12:10:00Z" },
    { zone: "America/New_York", per: "week", now: "2026-03-01T12:00:00Z", since: "2026-02-23T05:00:00Z" },
    { zone: "America/New_York", per: "month", now: "2026-03-31T12:00:00Z", since: "2026-03-01T05:00:00Z" }, // clocks went forward
    { zone: "Europe/Berlin", per: "day", now: "2026-10-25T10:00:00Z", since: "2026-10-24T22:00:00Z" }, // a day of 25 hours
    { zone: "Europe/Berlin", per: "hour", now: "2026-10-25T01:20:00Z", since: "2026-10-25T01:00:00Z" }, // its hour comes twice
    { zone: "Europe/Atlantis", per: "day", now: "2026-03-01T12:00:00Z", since: "2026-03-01T00:00:00Z" },
  ];
  for (const { zone, per, now, since } of starts)
    it(`by the calendar count since ${since} where a ${per} is that of ${zone} at ${now}`, () => {
      expect(countedSince({ window: "calendar", per }, zone, new Date(now))).to.deep.equal(new Date(since));
    });

  it("that roll count since a period before the send, in every zone", () => {
    const since = countedSince({ window: "rolling", per: "week" }, "Asia/Tokyo", new Date("2026-03-08T00:00:00Z"));
    expect(since).to.deep.equal(new Date("2026-03-01T00:00:00Z"));
  });
});
