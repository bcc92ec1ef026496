import { expect } from "chai";
import type { Cell, Origin, QuarterCounts } from "#core/domain/analytics/tables.ts";
import { dayMs, hourMs } from "#core/domain/durations.ts";
import type { Failures, Overview, Timeseries } from "#core/schema/analytics/deliveries.ts";
import { deliveryCounterCollection } from "#core/storage/analytics/delivery-counters.ts";
import { quarterOf } from "#core/storage/analytics/due-quarters.ts";
import type { FactsSinceRow } from "#core/storage/analytics/facts-since.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { cell, keepCounts } from "../../../support/analytics/cells.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aMail } from "../../../support/callbacks/deliveries.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";

type Own = Pick<Awaited<ReturnType<typeof seedTenant>>, "app" | "token">;
type Body = Overview & Timeseries & Failures;

describe("analytics of deliveries that failed, or have names", () => {
  const { site } = useSharedSite({ plan: { _id: "analytics", retention_days: 730 } });
  const now = quarterOf(new Date()).getTime();
  const plan = { _id: "analytics", retention_days: 730, api_rps: 1_000 };

  const call = async (what: string, { app, token }: Own) => {
    const { status, body } = await site.api.call("GET", `/v1/apps/${app._id}/analytics/${what}`, { token });
    return { status, body: body as unknown as Body };
  };
  const instant = (ms: number) => new Date(ms).toISOString();
  const range = (from: number, to: number) => `from=${instant(from)}&to=${instant(to)}`;
  const keep = ({ app }: Own, at: number, counts: Partial<QuarterCounts>) => keepCounts(site.db, app, at, counts);

  it("say why deliveries did not arrive, and what to do", async () => {
    const own = await seedTenant(site.db, { plan });
    const failed = (count: number, hoursAgo: number, message_id: string, error_code = "HARD_BOUNCE") =>
      ({
        channel: "email",
        provider: "smtp",
        error_code,
        count,
        last_at: new Date(now - hoursAgo * hourMs),
        message_id,
      }) as const;
    await keep(own, now - 5 * hourMs, {
      cells: [cell({ counts: { targeted: 9 } })],
      failures: [failed(2, 4, "msg_1")],
    });
    await keep(own, now - 3 * hourMs, {
      cells: [cell({ counts: { targeted: 9 } })],
      failures: [failed(1, 2, "msg_2"), failed(1, 3, "msg_3", "other")],
      suppressed: [{ channel: "email", reason: "quota", count: 2 }],
    });
    const { body } = await call(`failures?${range(now - dayMs, now)}`, own);
    expect(body.data).to.deep.equal([
      {
        key: "HARD_BOUNCE",
        channel: "email",
        count: 3,
        share: 0.75,
        last_at: instant(now - 2 * hourMs),
        sample_message: "msg_2",
        retryable: false,
        advice: "Nothing: there is no such mailbox, and its address is suppressed from now on.",
      },
      {
        key: "other",
        channel: "email",
        count: 1,
        share: 0.25,
        last_at: instant(now - 3 * hourMs),
        sample_message: "msg_3",
        retryable: null,
        advice: null,
      },
    ]);
    expect(body.suppressed).to.deep.equal([{ reason: "quota", count: 2 }]);
    const ofMail = { last_at: new Date(now), message_id: "msg_4" };
    const domains = ["mail.example", null].map((domain, n) => ({ domain, count: 4 - 3 * n, ...ofMail }));
    const countries = [{ channel: "sms" as const, country: "DE", count: 2, ...ofMail }];
    await keep(own, now - 2 * hourMs, { domains, countries });
    const by = async (grouping: string) => {
      const { data } = (await call(`failures?${range(now - dayMs, now)}&group_by=${grouping}`, own)).body;
      return data.map((one) => [one.key, one.channel, one.count, one.sample_message]);
    };
    expect(await by("country")).to.deep.equal([["DE", "sms", 2, "msg_4"]]);
    expect(await by("domain")).to.deep.equal([
      ["mail.example", "email", 4, "msg_4"],
      ["none", "email", 1, "msg_4"],
    ]);
    expect((await by("provider&channel=email")).map(([key, , count]) => [key, count])).to.deep.equal([["smtp", 4]]);
    const ofTexts = await call(`failures?${range(now - dayMs, now)}&channel=sms`, own);
    expect(ofTexts.body).to.deep.include({ data: [], suppressed: [] });
  });

  const ofMessages = async (): Promise<Own> => {
    const own = await seedTenant(site.db, { plan });
    const origin: Origin = {
      source: "campaign",
      template_id: "tpl_1",
      campaign_id: "spring",
      category: "news",
      labels: ["vip", "spring"],
      segment_ids: ["seg_1"],
    };
    const last = { last_at: new Date(now - hourMs), message_id: "msg_1" };
    const failed = { channel: "email", provider: "smtp", error_code: "HARD_BOUNCE", ...last } as const;
    await keep(own, now - hourMs, {
      cells: [cell({ counts: { targeted: 9 } })],
      failures: [
        { ...failed, origin, count: 4 },
        { ...failed, origin: { ...origin, source: "api", campaign_id: null, labels: [] }, count: 2 },
        { ...failed, count: 1 }, // by a former release
      ],
      domains: [{ domain: "mail.example", origin, count: 4, ...last }],
      countries: [{ channel: "sms", country: "DE", origin, count: 3, ...last }],
      suppressed: [
        { channel: "email", reason: "quota", origin, count: 5 },
        { channel: "email", reason: "quota", count: 6 },
      ],
    });
    return own;
  };

  it("are told of those messages alone that are asked for", async () => {
    const asked = [
      ["", 7, 11],
      ["source=campaign&label=vip&segment_id=seg_1", 4, 5],
      ["source=api,campaign", 6, 5],
      ["category=news&template_id=tpl_1&channel=email", 6, 5],
      ["campaign_id=spring&label=autumn", 0, 0],
      ["label=vip&group_by=domain", 4, 5],
      ["segment_id=seg_1&group_by=country", 3, 5],
      ["campaign_id=autumn&group_by=domain", 0, 0],
    ] as const;
    let own = await ofMessages();
    for (const [n, [query, ...expected]] of asked.entries()) {
      if (n === 4) own = await ofMessages(); // each app may ask five times a second
      const { data, suppressed } = (await call(`failures?${range(now - dayMs, now)}&${query}`, own)).body;
      const sum = (all: readonly { count: number }[]): number => all.reduce((of, { count }) => of + count, 0);
      expect([sum(data), sum(suppressed)], query).to.deep.equal(expected);
    }
  });

  it("are counted by label, segment and status, and messages beside them", async () => {
    const own = await seedTenant(site.db, { plan });
    const sent = (name: string, count: number, change: Partial<Cell> = {}) => ({
      ...cell({ counts: { targeted: count, sent: count }, ...change }),
      name,
    });
    const message = {
      channels: ["email"],
      source: "api",
      template_id: null,
      campaign_id: null,
      category: null,
    } as const;
    await keep(own, now - hourMs, {
      cells: [cell({ counts: { targeted: 9, sent: 9 } })],
      labels: [sent("spring", 4), sent('vip, "EU"', 3, { category: "news" }), sent('vip, "EU"', 2)],
      segments: [sent("seg_1", 6)],
      statuses: [sent("opened", 7), sent("sent", 2)],
      messages: [
        { ...message, labels: ["spring"], segment_ids: [], count: 3 },
        { ...message, channels: ["email", "sms"], labels: [], segment_ids: ["seg_1"], count: 2 },
      ],
    });
    const day = range(now - dayMs, now);
    const odd = encodeURIComponent('vip, "EU"');
    const overviews = [
      ["", 9, 5],
      ["label=spring", 4, 3],
      [`label=${odd}`, 5, 0],
      [`label=${odd}&category=news`, 3, 0],
    ] as const;
    for (const [query, ...expected] of overviews) {
      const { totals, messages } = (await call(`overview?${day}&${query}`, own)).body;
      expect([totals.sent, messages], query).to.deep.equal(expected);
    }
    const others = await seedTenant(site.db, { plan }); // each app may ask five times a second
    await keep(others, now - hourMs, {
      labels: [sent("spring", 4), sent("vip", 5)],
      segments: [sent("seg_1", 6)],
      statuses: [sent("opened", 7), sent("sent", 2)],
      messages: [{ ...message, channels: ["email", "sms"], labels: [], segment_ids: ["seg_1"], count: 2 }],
    });
    const by = async (query: string) => {
      const { series } = (await call(`timeseries?${day}&interval=month&${query}`, others)).body;
      return series.map(({ group, points }) => [group, points.reduce((sum, { value }) => sum + (value ?? 0), 0)]);
    };
    const labels = [
      ["vip", 5],
      ["spring", 4],
    ];
    expect(await by("metric=sent&group_by=label")).to.deep.equal(labels);
    expect(await by("metric=targeted&group_by=status")).to.deep.equal([
      ["opened", 7],
      ["sent", 2],
    ]);
    expect(await by("metric=sent&segment_id=seg_1")).to.deep.equal([[null, 6]]);
    const ofSegment = await call(`overview?${day}&segment_id=seg_1&channel=sms`, others);
    expect([ofSegment.body.messages, ofSegment.body.totals.sent]).to.deep.equal([2, 0]);
  });

  it("say from when on all that they are about is kept, where a former release has counted", async () => {
    const noon = Math.floor(now / dayMs) * dayMs - dayMs / 2;
    const cells = [cell({ counts: { targeted: 1 } })];
    const ten = range(noon - 10 * dayMs, noon + hourMs);
    const counted = async () => {
      const own = await seedTenant(site.db, { plan });
      await keep(own, noon - hourMs, { cells });
      return own;
    };
    const ofAll = [
      "overview?",
      "overview?label=vip",
      "channels?",
      "timeseries?metric=targeted&group_by=status",
      "timeseries?metric=sent,clicks_total",
      "failures?group_by=country",
      "failures?source=api",
      "messages?group_by=campaign_id&segment_id=seg_1",
    ];
    const ofSome = ["timeseries?metric=sent,open_rate", "failures?channel=email", "messages?group_by=campaign_id"];
    const rows = site.db.collection<FactsSinceRow>(deliveryCounterCollection.name);
    const [always, former] = [await counted(), await counted()];
    await rows.deleteOne({ app_id: former.app._id, table: "since" }); // a former release did not tell
    for (let n = 0; n < ofAll.length; n += 4) {
      const [whole, upgraded] = n === 0 ? [always, former] : [await counted(), await counted()]; // each may ask five times a second
      await rows.deleteOne({ app_id: upgraded.app._id, table: "since" });
      for (const query of ofAll.slice(n, n + 4)) {
        const begin = (await call(`${query}&${ten}`, whole)).body.complete_from;
        expect(begin, query).to.equal(instant(noon - 10 * dayMs));
        const unknown = (await call(`${query}&${ten}`, upgraded)).body.complete_from;
        expect(Date.parse(unknown), query).to.be.at.least(now); // until the first day that it counts begins
      }
    }
    await keep(former, noon + dayMs / 2, { cells });
    const since = (await rows.findOne({ app_id: former.app._id, table: "since" }))?.since.getTime() ?? 0;
    expect(since).to.be.above(now);
    const later = await counted();
    await rows.updateOne({ app_id: later.app._id, table: "since" }, { $set: { since: new Date(noon - dayMs) } });
    expect((await call(`overview?${ten}`, later)).body.complete_from).to.equal(instant(noon - dayMs));
    for (const query of ofSome)
      expect((await call(`${query}&${ten}`, later)).body.complete_from, query).to.equal(instant(noon - 10 * dayMs));
  });

  it("say so of an app that had deliveries before any were counted", async () => {
    const own = await seedTenant(site.db, { plan });
    const before = new Date(now - 2 * hourMs);
    const { delivery } = aMail(
      { tenant_id: own.app.tenant_id, app_id: own.app._id },
      { created_at: before, updated_at: before },
    );
    await site.db.collection<DeliveryRow>(deliveryCollection.name).insertOne(delivery);
    await keep(own, now - hourMs, { cells: [cell({ counts: { targeted: 1 } })] });
    const day = range(now - dayMs, now);
    expect(Date.parse((await call(`overview?${day}`, own)).body.complete_from)).to.be.above(now);
    expect((await call(`timeseries?metric=sent&${day}`, own)).body.complete_from).to.equal(instant(now - hourMs));
  });
});
