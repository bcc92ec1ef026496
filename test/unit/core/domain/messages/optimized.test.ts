import { expect } from "chai";
import { bestHour, hourWeights } from "#core/domain/messages/best-hour.ts";
import { gainOf } from "#core/domain/messages/gain.ts";
import { commonHourOf, type Habits, optimizedTimes } from "#core/domain/messages/optimized.ts";

const start = new Date("2026-03-28T12:20:00Z");
const dayMs = 86_400_000;

/** So many signals at an hour of UTC, one a day back from yesterday. */
const at = (hour: number, count: number, weight = 3) =>
  Array.from({ length: count }, (_, n) => ({
    at: new Date(Date.UTC(2026, 2, 27, hour, 30) - n * dayMs),
    weight,
  }));
const clock = { now: start, offsetMs: 0 };

describe("bestHour", () => {
  for (const { it: name, signals, hour } of [
    { it: "nothing", signals: [], hour: null },
    { it: "four signals", signals: at(9, 4), hour: null },
    { it: "five signals", signals: at(9, 5), hour: 9 },
    { it: "more in one hour than in another", signals: [...at(9, 5), ...at(20, 6)], hour: 20 },
    { it: "fewer that weigh more", signals: [...at(9, 5, 3), ...at(20, 6, 1)], hour: 9 },
    {
      it: "many that are old and few that are new",
      signals: [...at(20, 6).map((one) => ({ ...one, at: new Date(one.at.getTime() - 80 * dayMs) })), ...at(9, 4)],
      hour: 9,
    },
    {
      it: "what is more than 90 days old",
      signals: at(9, 9).map((one) => ({ ...one, at: new Date(one.at.getTime() - 91 * dayMs) })),
      hour: null,
    },
  ])
    it(`of ${name} is ${hour}`, () => {
      expect(bestHour(signals, clock)).to.equal(hour);
    });

  it("halves what a signal says every 45 days", () => {
    const signals = [{ at: new Date(start.getTime() - 45 * dayMs), weight: 3 }];
    expect(hourWeights(signals, clock)[12]).to.be.closeTo(1.5, 1e-9);
  });

  it("is by the clock of the person", () => {
    expect(bestHour(at(20, 5), { now: start, offsetMs: 5.5 * 3_600_000 })).to.equal(2); // 20:30 UTC is 02:00
  });
});

describe("optimizedTimes", () => {
  const person = (change: Partial<Habits> = {}): Habits => ({
    userId: "usr_1",
    zone: "UTC",
    signals: [],
    lastActiveAt: null,
    ...change,
  });
  const times = (change: object = {}) =>
    optimizedTimes({ messageId: "msg_1", start, appZone: "UTC", controlPercent: 0, commonHour: 18, ...change });
  const shown = (date: Date) => date.toISOString();

  it("is the next time that the person's hour is shown, within it, and within a day", () => {
    const due = times()(person({ signals: at(9, 5) })).at;
    expect(shown(due)).to.match(/^2026-03-29T09:[0-5]0:00.000Z$/);
    expect(shown(times()(person({ signals: at(15, 5) })).at)).to.match(/^2026-03-28T15:/);
  });

  it("is by the person's clock, also where it is put forward meanwhile", () => {
    const berlin = person({ zone: "Europe/Berlin", signals: at(8, 5) }); // 09:30 there, before the change
    expect(shown(times()(berlin).at)).to.match(/^2026-03-29T07:[0-5]0/);
    for (const [zone, hour] of [
      ["Pacific/Apia", 8],
      ["Asia/Kolkata", 8],
    ] as const) {
      const { at: due } = times()(person({ zone, signals: at(hour, 5) }));
      expect(due.getTime() - start.getTime(), zone).to.be.within(0, dayMs);
    }
  });

  it("is the hour of the last activity, then the common one, then at once, where less is known", () => {
    const lastActiveAt = new Date("2026-03-20T07:10:00Z");
    expect(shown(times()(person({ lastActiveAt })).at)).to.match(/^2026-03-29T07:/);
    expect(shown(times()(person({ lastActiveAt: new Date("2025-03-20T07:10:00Z") })).at)).to.match(/^2026-03-28T18:/);
    expect(shown(times()(person()).at)).to.match(/^2026-03-28T18:/);
    expect(times({ commonHour: null })(person()).at).to.deep.equal(start);
  });

  it("sends a control at the common hour, which is so many of all people, the same each time", () => {
    const dueOf = times({ controlPercent: 5 });
    const people = Array.from({ length: 10_000 }, (_, n) => person({ userId: `usr_${n}`, signals: at(9, 5) }));
    const control = people.filter((one) => dueOf(one).timing === "control");
    expect(control.length).to.be.within(430, 570);
    expect(control.every((one) => /T18:/.test(shown(dueOf(one).at)))).to.equal(true);
    const minutes = new Set(people.slice(0, 200).map((one) => shown(dueOf(one).at).slice(14, 16)));
    expect([...minutes].toSorted()).to.deep.equal(["00", "10", "20", "30", "40", "50"]);
  });

  it("takes for the common hour that of all together", () => {
    expect(commonHourOf([person({ signals: at(9, 2) }), person({ signals: at(20, 3) })], start)).to.equal(20);
    expect(commonHourOf([person()], start)).to.equal(null);
  });
});

describe("gainOf", () => {
  it("compares the rates of both parts, with the interval", () => {
    const counts = { optimized: { sent: 9_500, opened: 1_140 }, control: { sent: 500, opened: 50 } };
    const { open_rate: gain, click_rate, control_percent } = gainOf(counts);
    expect([control_percent, click_rate]).to.deep.equal([5, null]);
    expect(gain?.uplift).to.be.closeTo(0.2, 1e-9);
    expect(gain?.interval[0]).to.be.closeTo(1.2 * Math.exp(-1.959964 * 0.13706) - 1, 0.01);
  });
});
