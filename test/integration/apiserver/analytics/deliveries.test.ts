import { expect } from "chai";
import { noMetrics } from "#core/domain/analytics/metrics.ts";
import type { QuarterCounts } from "#core/domain/analytics/tables.ts";
import { dayMs, hourMs, quarterMs } from "#core/domain/durations.ts";
import type { Channels, Failures, Overview, Timeseries } from "#core/schema/analytics/deliveries.ts";
import { channels } from "#core/schema/vocabulary/channels.ts";
import { dueQuarters, quarterOf } from "#core/storage/analytics/due-quarters.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { cell, keepCounts } from "../../../support/analytics/cells.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aMail } from "../../../support/callbacks/deliveries.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";

type Tenant = Awaited<ReturnType<typeof seedTenant>>;
type Body = Overview &
  Timeseries & { data: (Channels["data"][number] & Failures["data"][number])[] } & Pick<Failures, "suppressed"> & {
    error?: { details: Record<string, unknown> };
  };
type Own = Pick<Tenant, "app" | "token">;

describe("analytics of deliveries", () => {
  const { site, tenant } = useSharedSite({ plan: { _id: "analytics", retention_days: 730 } });
  const now = quarterOf(new Date()).getTime();
  const plan = { _id: "analytics", retention_days: 730, api_rps: 1_000 };

  const call = async (what: string, of: Own = tenant) => {
    const path = `/v1/apps/${of.app._id}/analytics/${what}`;
    const { status, body } = await site.api.call("GET", path, { token: of.token });
    return { status, body: body as unknown as Body };
  };
  const pointsOf = ({ series }: Timeseries) => series[0]?.points ?? [];
  const instant = (ms: number) => new Date(ms).toISOString();
  const range = (from: number, to: number) => `from=${instant(from)}&to=${instant(to)}`;

  const keep = ({ app }: Own, at: number, counts: Partial<QuarterCounts>) => keepCounts(site.db, app, at, counts);

  it("add up all of a range, make rates of it, and compare it with the one before", async () => {
    const own = await seedTenant(site.db, { plan });
    const sent = (count: number, opened: number) => ({
      cells: [cell({ counts: { targeted: count, sent: count, delivered: count, opened, conversion_value: 100_000 } })],
    });
    await keep(own, now - hourMs, sent(3, 1));
    await keep(own, now - 2 * hourMs, sent(5, 3));
    await keep(own, now - dayMs - hourMs, sent(4, 1));
    await keep(own, now - 2 * dayMs, sent(100, 100));
    const { status, body } = await call(
      `overview?${range(now - dayMs, now)}&compare=previous_period&timezone=UTC`,
      own,
    );
    expect(status).to.equal(200);
    const { totals, rates, previous, change, as_of: asOf, complete_from: completeFrom, ...rest } = body;
    expect(totals).to.deep.equal({
      ...noMetrics(),
      targeted: 8,
      sent: 8,
      delivered: 8,
      opened: 4,
      conversion_value: 0.2,
    });
    expect(rates).to.include({
      delivery_rate: 1,
      open_rate: 0.5,
      click_rate: 0,
      ctor: 0,
      failure_rate: 0,
      rate_basis: "delivered",
    });
    expect(previous).to.deep.include({ from: instant(now - 2 * dayMs), to: instant(now - dayMs) });
    expect(previous?.totals).to.include({ sent: 104 });
    expect(change).to.include({ sent: (8 - 104) / 104, clicked: null });
    const uncounted = { active_subscriptions: null, active_users: null, audience_as_of: null };
    const asked = { from: instant(now - dayMs), to: instant(now), timezone: "UTC", clamped: false };
    expect(rest).to.deep.equal({ ...asked, ...uncounted, messages: 0 });
    expect(completeFrom).to.equal(instant(now - dayMs));
    expect(Date.parse(asOf)).to.be.at.least(now);
  });

  const ofEachKind = async (): Promise<Own> => {
    const own = await seedTenant(site.db, { plan });
    const counts = { targeted: 10, sent: 10, delivered: 5, opened: 5 };
    await keep(own, now - hourMs, {
      cells: [
        cell({ counts, source: "campaign", campaign_id: "spring", category: "news" }),
        cell({ counts, source: "campaign", campaign_id: "autumn", category: "news", template_id: "t" }),
        cell({ counts, channel: "ios_push", provider: "apns" }),
      ],
    });
    return own;
  };

  const filtered = [
    ["category=news", 20, "delivered", 1],
    ["category=news&campaign_id=spring", 10, "delivered", 1],
    ["template_id=t", 10, "delivered", 1],
    ["source=test,journey", 0, "delivered", null],
    ["channel=email,ios_push", 30, "sent", 0.5],
    ["channel=sms", 0, "delivered", null],
  ] as const;

  it("count those alone that fit all filters, and divide by what was sent where pushes are among them", async () => {
    for (const some of [filtered.slice(0, 3), filtered.slice(3)]) {
      const own = await ofEachKind(); // each app may ask five times a second
      for (const [query, ...expected] of some) {
        const { totals, rates } = (await call(`overview?${range(now - dayMs, now)}&${query}`, own)).body;
        expect([totals.sent, rates.rate_basis, rates.open_rate], query).to.deep.equal(expected);
      }
    }
  });

  it("are shown for each channel, also for those that nothing was sent over", async () => {
    const { body } = await call(`channels?${range(now - dayMs, now)}`, await ofEachKind());
    expect(body.data.map(({ channel, totals }) => [channel, totals.sent])).to.deep.equal(
      channels.map((channel) => [channel, channel === "email" ? 20 : channel === "ios_push" ? 10 : 0]),
    );
  });

  it("say how long deliveries of a channel took, within 5 %", async () => {
    const own = await seedTenant(site.db, { plan });
    const tookMs = Array.from({ length: 200 }, (_, n) => 30 * 1.03 ** n); // from 30 ms to 3 hours
    for (let n = 0; n < 4; n++) {
      const some = tookMs.filter((_, place) => place % 4 === n);
      await keep(own, now - n * dayMs - hourMs, {
        times: classesOf(some),
        cells: [cell({ counts: { targeted: 50 } })],
      });
    }
    const times = async (query: string) =>
      (await call(`channels?${query}`, own)).body.data.map(
        ({ channel, median_delivery_ms: median, p95_delivery_ms: p95 }) => [channel, median, p95] as const,
      );
    const four = range(now - 3 * dayMs - 2 * hourMs, now);
    const all = await times(four);
    const none = channels.filter((channel) => channel !== "email").map((channel) => [channel, null, null]);
    expect(all.filter(([channel]) => channel !== "email")).to.deep.equal(none);
    const [, median, p95] = all.find(([channel]) => channel === "email") ?? expect.fail("there is no email");
    expect(median).to.be.closeTo(tookMs[99] ?? 0, 0.02 * (tookMs[99] ?? 0));
    expect(p95).to.be.closeTo(tookMs[189] ?? 0, 0.02 * (tookMs[189] ?? 0));
    const unknown = channels.map((channel) => [channel, null, null]);
    for (const query of [`${four}&channel=sms`, `${four}&category=news`, range(now - 2 * hourMs, now - hourMs)])
      expect(await times(query), query).to.deep.equal(unknown);
  });

  const classesOf = (tookMs: readonly number[]) => {
    const classes = Map.groupBy(tookMs, (ms) => Math.round(Math.log(ms) / Math.log(1.04)));
    return [...classes].map(([of, some]) => ({ channel: "email" as const, class: of, count: some.length }));
  };

  it("show how metrics went by the clocks of a zone, each group by itself", async () => {
    const own = await seedTenant(site.db, { plan });
    const midnight = Date.UTC(2026, 2, 28, 23); // in Berlin; the day that follows has 23 hours
    const sent = (count: number, source: "api" | "campaign") =>
      cell({ source, counts: { targeted: count, sent: count } });
    await keep(own, midnight - quarterMs, { cells: [sent(1, "api")] });
    await keep(own, midnight, { cells: [sent(2, "api"), sent(7, "campaign")] });
    await keep(own, midnight + 23 * hourMs - quarterMs, { cells: [sent(4, "api")] });
    await keep(own, midnight + 23 * hourMs, { cells: [sent(8, "api")] });
    const days = `${range(midnight - dayMs, midnight + 47 * hourMs)}&timezone=Europe/Berlin`;
    const { status, body } = await call(`timeseries?${days}&metric=sent,open_rate&group_by=source`, own);
    expect(status).to.equal(200);
    const at = [midnight - dayMs, midnight, midnight + 23 * hourMs].map(instant);
    const series = (metric: string, group: string, values: readonly (number | null)[]) => ({
      metric,
      group,
      points: values.map((value, n) => ({ at: at[n], value })),
    });
    expect(body.series).to.deep.equal([
      series("sent", "api", [1, 6, 8]),
      series("sent", "campaign", [0, 7, 0]),
      series("open_rate", "api", [null, null, null]),
      series("open_rate", "campaign", [null, null, null]),
    ]);
    const hours = await call(`timeseries?${days}&metric=sent&interval=hour_of_week`, own);
    const found = pointsOf(hours.body).filter(({ value }) => value !== 0);
    expect(found).to.deep.equal([
      { at: "1T00:00", value: 8 },
      { at: "6T23:00", value: 1 },
      { at: "7T00:00", value: 9 },
      { at: "7T23:00", value: 4 },
    ]);
    expect(pointsOf(hours.body)).to.have.length(168);
    const hourly = await call(`timeseries?${days}&metric=sent&interval=hour&source=api`, own);
    expect(pointsOf(hourly.body)).to.have.length(71);
    expect(pointsOf(hourly.body)[23]).to.deep.equal({ at: instant(midnight - hourMs), value: 1 });
  });

  it("show the 20 most frequent groups, and all others as one", async () => {
    const own = await seedTenant(site.db, { plan });
    const cells = Array.from({ length: 25 }, (_, n) => cell({ campaign_id: `c${n}`, counts: { targeted: 100 - n } }));
    await keep(own, now - hourMs, { cells: [...cells, cell({ campaign_id: "other", counts: { targeted: 1_000 } })] });
    const { body } = await call(
      `timeseries?${range(now - dayMs, now)}&interval=month&metric=targeted&group_by=campaign_id`,
      own,
    );
    expect(body.series).to.have.length(21);
    expect(body.series[0]).to.include({ group: "c0" });
    const { group, points = [] } = body.series[20] ?? {};
    expect([group, points.reduce((sum, { value }) => sum + (value ?? 0), 0)]).to.deep.equal([
      "other",
      1_000 + [20, 21, 22, 23, 24].reduce((sum, n) => sum + 100 - n, 0),
    ]);
  });

  it("say until when and from when on all is counted, and where what the plan keeps begins", async () => {
    const own = await seedTenant(site.db, { plan: { ...plan, _id: "analytics_short", retention_days: 10 } });
    const of = { tenant_id: own.app.tenant_id, app_id: own.app._id };
    const [at, before] = [new Date(now - 2 * dayMs), new Date(now - 3 * dayMs)];
    const rows = site.db.collection<DeliveryRow>(deliveryCollection.name);
    await rows.insertMany([before, at].map((created_at) => aMail(of, { created_at, updated_at: created_at }).delivery));
    await keep(own, at.getTime(), { cells: [cell({ counts: { targeted: 1 } })] });
    const changed = new Date(now - 5_000);
    await dueQuarters(site.db, { now: () => changed }).touch([aMail(of, { created_at: at }).delivery]);
    const { body } = await call(`timeseries?metric=sent&${range(now - 20 * dayMs, now)}`, own);
    expect(body).to.include({
      from: body.from,
      clamped: true,
      as_of: changed.toISOString(),
      complete_from: instant(now - 2 * dayMs),
    });
    expect(Date.parse(body.from)).to.be.above(now - 11 * dayMs);
    const later = await call(`timeseries?metric=sent&${range(now - dayMs, now)}`, own);
    expect(Date.parse(later.body.as_of)).to.be.at.least(now);
    expect(later.body).to.include({ complete_from: instant(now - dayMs), clamped: false });
  });

  it("refuse what cannot be counted, by the name of the member", async () => {
    const faults = [
      [`overview?${range(now, now - dayMs)}`, "to"],
      [`overview?${range(now - 401 * dayMs, now)}`, "from"],
      [`overview?${range(now - 60_000, now)}`, "from"],
      ["overview?channel=fax", "channel[0]"],
      ["overview?source=mail", "source[0]"],
      ["overview?timezone=Mars/Base", "timezone"],
      ["overview?compare=yesterday", "compare"],
      ["overview?campaign_id=", "campaign_id"],
      ["timeseries", "metric"],
      ["timeseries?metric=opens", "metric[0]"],
      ["timeseries?metric=sent,opened,clicked,failed,expired,bounced", "metric"],
      ["timeseries?metric=sent&interval=minute", "interval"],
      [`timeseries?metric=sent&interval=hour&${range(now - 32 * dayMs, now)}`, "interval"],
      [`timeseries?metric=sent,opened,clicked&group_by=source&${range(now - 400 * dayMs, now)}`, "interval"],
      ["timeseries?metric=sent&group_by=journey_id", "group_by"],
      ["timeseries?metric=targeted,sent&group_by=status", "metric[1]"],
      ["timeseries?metric=targeted&group_by=status&label=spring", "group_by"],
      ["overview?label=spring&segment_id=seg_1", "segment_id"],
      ["channels?channel=email,fax", "channel[1]"],
      ["failures?group_by=city", "group_by"],
      ["overview?label=", "label"],
      [`timeseries?metric=sent&interval=hour&${range(now - 1_001 * hourMs, now)}`, "interval"], // 1,001 points
      ["channels?chanel=email", "chanel"],
      ["failures?source=mail", "source[0]"],
    ] as const;
    for (let n = 0; n < faults.length; n += 4) {
      const own = await seedTenant(site.db, { plan }); // each app may ask five times a second
      for (const [query, field] of faults.slice(n, n + 4)) {
        const { status, body } = await call(query, own);
        expect([status, body.error?.details["field"]], query).to.deep.equal([400, field]);
      }
    }
  });

  it("are those of the app alone, and are for keys that may read analytics", async () => {
    const other = await seedTenant(site.db, { plan, key: { scopes: ["events:write"] } });
    for (const what of ["overview", "timeseries?metric=sent", "channels", "failures"]) {
      expect((await call(what, { app: other.app, token: tenant.token })).status, what).to.equal(404);
      expect((await call(what, other)).status, what).to.equal(403);
    }
  });
});
