import { expect } from "chai";
import { localTimes } from "#core/domain/messages/local-time.ts";
import { scheduling, type Timing, throttled } from "#core/domain/messages/schedule.ts";

const noon = new Date("2026-06-01T12:00:00Z");
const nine = 9 * 3_600_000;
const clock = (zone: string | null) => ({ zone, country: null, quietHours: undefined });
const hours = { enabled: true, start: "22:00", end: "08:00", days: null, timezone: "user", channels: null };

describe("a schedule", () => {
  const timing = (over: Partial<Timing> = {}): Timing => ({
    start: noon,
    appZone: "Europe/Berlin",
    dueIn: localTimes({ start: noon, timeMs: nine, appZone: "Europe/Berlin", missed: "next_day" }),
    quiet: null,
    ratePerMinute: null,
    ...over,
  });

  it("has zones of one instant in one slot, and counts whose zone is not known by the app's", () => {
    const schedule = scheduling(timing());
    for (const zone of ["Asia/Kolkata", "Asia/Colombo", "Pacific/Apia", null, "Nowhere/Land"])
      schedule.add(clock(zone), "ios_push");
    expect(schedule.result()).to.deep.equal({
      slots: [
        { at: new Date("2026-06-01T20:00:00Z"), recipients: 1, zones: ["Pacific/Apia"] },
        { at: new Date("2026-06-02T03:30:00Z"), recipients: 2, zones: ["Asia/Colombo", "Asia/Kolkata"] },
        { at: new Date("2026-06-02T07:00:00Z"), recipients: 2, zones: ["Europe/Berlin"] },
      ],
      zoneUnknown: 2,
      missed: 0,
      quiet: { moved: 0, dropped: 0 },
    });
  });

  it("moves whom quiet hours hold to their end, and leaves out whom they drop, or whose time has passed", () => {
    const late = { start: new Date("2026-06-01T21:30:00Z"), dueIn: null };
    for (const mode of ["hold", "drop"] as const) {
      const schedule = scheduling(
        timing({ ...late, quiet: { hours: { ...hours, mode }, channels: new Set(["sms"]) } }),
      );
      schedule.add(clock("Europe/Berlin"), "sms");
      schedule.add(clock("Europe/Berlin"), "email");
      schedule.add(clock("America/New_York"), "sms");
      const { slots, quiet } = schedule.result();
      const held = mode === "hold" ? [["2026-06-02T06:00:00.000Z", 1]] : [];
      expect(slots.map(({ at, recipients }) => [at.toISOString(), recipients])).to.deep.equal([
        ["2026-06-01T21:30:00.000Z", 2],
        ...held,
      ]);
      expect(quiet).to.deep.equal(mode === "hold" ? { moved: 1, dropped: 0 } : { moved: 0, dropped: 1 });
    }
    const skipping = scheduling(timing({ dueIn: () => null }));
    skipping.add(clock("UTC"), "sms");
    expect(skipping.result()).to.deep.include({ slots: [], missed: 1 });
  });

  it("spreads slots at a rate, the next behind the one before", () => {
    const at = (minutes: number) => new Date(noon.getTime() + minutes * 60_000);
    const slots = [
      { at: at(0), recipients: 25, zones: ["UTC"] },
      { at: at(1), recipients: 10, zones: [] },
    ];
    expect(throttled(slots, 10).map((slot) => [slot.at, slot.recipients])).to.deep.equal([
      [at(0), 10],
      [at(1), 10],
      [at(2), 5],
      [at(2.5), 10],
    ]);
    expect(throttled([{ at: at(0), recipients: 1_000_000, zones: [] }], 1)).to.have.length.within(50, 200);
  });
});
