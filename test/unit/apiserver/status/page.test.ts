import { expect } from "chai";
import { type Component, components, type Status } from "#core/schema/status/vocabulary.ts";
import type { StatusDayRow } from "#core/storage/status/days.ts";
import type { IncidentRow } from "#core/storage/status/incidents.ts";
import { barsOf, recordOf, uptimeOf } from "../../../../apiserver/status/bars.ts";
import type { Look } from "../../../../apiserver/status/board.ts";
import { feed } from "../../../../apiserver/status/feed.ts";
import { page } from "../../../../apiserver/status/page.ts";
import { documentOf } from "../../../../apiserver/status/views.ts";

const now = new Date("2026-11-23T12:00:00Z");
const each = <T>(value: T) => Object.fromEntries(components.map((name) => [name, value])) as Record<Component, T>;
const aDay = (day: string, minutes: Partial<Record<Status, number>>): StatusDayRow => ({
  _id: day,
  minutes: { ...each({ operational: 1_440 }), api: minutes },
  last_minute: 0,
  created_at: new Date(day),
});
const anIncident = (over: Partial<IncidentRow> = {}): IncidentRow => ({
  _id: "inc_1",
  title: 'Late & <b>"wrong"</b>',
  severity: "major",
  components: ["delivery"],
  status: "identified",
  updates: [{ status: "identified", message: "It is <script>us</script>\u0007.", created_at: now }],
  started_at: now,
  resolved_at: null,
  managed: null,
  created_at: now,
  updated_at: now,
  ...over,
});
const aLook = (over: Partial<Look> = {}): Look => ({
  checkedAt: now,
  status: "degraded",
  states: { ...each("operational" as const), delivery: "degraded" },
  incidents: [anIncident()],
  days: [aDay("2026-11-22", { operational: 1_430, major_outage: 10 }), aDay("2026-11-23", { operational: 720 })],
  ...over,
});

describe("the status page", () => {
  it("has a bar for each of 90 days, today's last, and none for days that nobody recorded", () => {
    const days = [
      aDay("2026-11-20", { operational: 1_439, major_outage: 1 }),
      aDay("2026-11-21", { operational: 1_400, degraded: 40 }),
      aDay("2026-11-22", { operational: 1_400, degraded: 30, major_outage: 10 }),
      aDay("2026-11-23", { operational: 720 }),
    ];
    const bars = barsOf("api", days, now);
    expect([bars.length, bars[0]?.day]).to.deep.equal([90, "2026-08-26"]);
    expect(bars.slice(-5)).to.deep.equal([
      { day: "2026-11-19", status: "unknown", minutes: "" },
      { day: "2026-11-20", status: "degraded", minutes: "1 min outage" },
      { day: "2026-11-21", status: "degraded", minutes: "40 min degraded" },
      { day: "2026-11-22", status: "major_outage", minutes: "10 min outage, 30 min degraded" },
      { day: "2026-11-23", status: "operational", minutes: "operational" },
    ]);
  });

  it("never rounds an outage away", () => {
    const days = [aDay("2026-11-22", { operational: 999_999, major_outage: 1 })];
    expect(uptimeOf("api", days)).to.equal("99.99");
    expect(uptimeOf("sdk", days)).to.equal("100.00");
    expect(uptimeOf("api", [])).to.equal(null);
  });

  const records = [
    { days: [], says: null },
    { days: [aDay("2026-11-23", { operational: 10 })], says: "recorded since 2026-11-23, 10 min in all" },
    {
      days: [aDay("2026-11-21", {}), aDay("2026-11-22", { operational: 300 }), aDay("2026-11-23", { degraded: 60 })],
      says: "recorded since 2026-11-22, 6 h in all",
    },
    {
      days: ["2026-11-20", "2026-11-21", "2026-11-23"].map((day) => aDay(day, { operational: 1_440 })),
      says: "recorded since 2026-11-20, 3 days in all",
    },
  ];
  for (const { days, says } of records)
    it(`says ${says ?? "nothing where nothing is recorded"}`, () => {
      expect(recordOf("api", days)).to.equal(says);
    });

  it("claims no 90 days of a service that is ten minutes old", () => {
    const html = page(aLook({ days: [{ ...aDay("2026-11-23", {}), minutes: each({ operational: 10 }) }] }));
    expect(html).to.contain('<span class="uptime">100.00 % available, recorded since 2026-11-23, 10 min in all</span>');
  });

  it("shows what people wrote as text", () => {
    const html = page(aLook());
    expect(html).to.contain("Late &amp; &lt;b&gt;&quot;wrong&quot;&lt;/b&gt;");
    expect(html).to.contain("It is &lt;script&gt;us&lt;/script&gt;.");
    expect(html).to.not.contain("<script");
    expect(html.match(/<i class/g)?.length).to.equal(90 * components.length);
  });

  it("has a feed whose entries stay what they are", () => {
    const [first, again] = [0, 1].map(() => feed(aLook(), "https://s.example/status/"));
    expect(first).to.equal(again);
    expect(first).to.contain(`<id>https://s.example/status/#inc_1-${now.getTime()}</id>`);
    expect(first).to.contain("<title>Late &amp; &lt;b&gt;&quot;wrong&quot;&lt;/b&gt;: identified</title>");
    expect(first).to.not.contain("\u0007");
  });

  it("leaves incidents out of the document a week after their end", () => {
    const ended = (days: number) =>
      anIncident({ _id: `inc_${days}`, resolved_at: new Date(now.getTime() - days * 86_400_000) });
    const { incidents } = documentOf(aLook({ incidents: [anIncident(), ended(6), ended(8)] }));
    expect(incidents.map(({ id }) => id)).to.deep.equal(["inc_1", "inc_6"]);
  });
});
