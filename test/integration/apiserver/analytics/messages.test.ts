import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Cell } from "#core/domain/analytics/tables.ts";
import { dayMs, hourMs } from "#core/domain/durations.ts";
import { newId } from "#core/domain/ids.ts";
import { timings } from "#core/domain/timing.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import type { MessageReport } from "#core/schema/analytics/message-report.ts";
import type { MessageTotalsPage } from "#core/schema/analytics/messages.ts";
import { zeroCounts } from "#core/schema/messages/message.ts";
import { deliveryCounters } from "#core/storage/analytics/delivery-counters.ts";
import { quarterOf } from "#core/storage/analytics/due-quarters.ts";
import { type MessageReportRow, messageReportCollection } from "#core/storage/analytics/message-reports.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { messageReportJob } from "../../../../dispatcher/jobs/message-reports.ts";
import { noCounts } from "../../../support/analytics/counters.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aMail, aSentMessage } from "../../../support/callbacks/deliveries.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { keptLog } from "../../core/queue/helpers.ts";

type Tenant = Awaited<ReturnType<typeof seedTenant>>;
type Own = Pick<Tenant, "app" | "token">;
type Problem = { error?: { details: Record<string, unknown> } };

describe("analytics of messages", () => {
  const { site, tenant } = useSharedSite();
  const plan = { _id: "analytics_messages", retention_days: 730, api_rps: 1_000 };
  const own = (): Promise<Tenant> => seedTenant(site.db, { plan });
  const now = quarterOf(new Date()).getTime();
  const clock = { now: () => new Date() };

  const call = async (path: string, { app, token }: Own) => {
    const { status, body } = await site.api.call("GET", `/v1/apps/${app._id}/analytics/messages${path}`, { token });
    return { status, body: body as unknown as MessageTotalsPage & MessageReport & Problem };
  };
  const range = (from: number, to: number) => `from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`;

  const seed = async ({ app }: Own, at: number, change: Partial<MessageRow>): Promise<string> => {
    const id = newId("message", new Date(at));
    const row = aSentMessage({ tenant_id: app.tenant_id, app_id: app._id }, id, 0);
    const all = { ...row, channels: ["email" as const], created_at: new Date(at), ...change };
    await site.db.collection<MessageRow>(messageCollection.name).insertOne(all);
    return id;
  };
  const counts = (sent: number, opened: number) => ({
    counts: { ...zeroCounts(), targeted: sent, sent, delivered: sent, opened },
  });

  it("are listed as they were accepted, newest first, in pages, and by their filters", async () => {
    const of = await own();
    const ids: string[] = [];
    for (const [n, sent] of [5, 9, 7].entries())
      ids.push(await seed(of, now - (3 - n) * hourMs, { ...counts(sent, 3), labels: n === 1 ? ["spring"] : [] }));
    await seed(of, now - 3 * dayMs, counts(100, 1));
    const day = range(now - dayMs, now);
    const first = await call(`?${day}&limit=2`, of);
    expect(first.status).to.equal(200);
    expect(first.body.data.map(({ key }) => key)).to.deep.equal([ids[2], ids[1]]);
    expect(first.body.data[0]).to.deep.include({ message_id: ids[2], source: "api" });
    expect(first.body.data[0]?.totals).to.include({ sent: 7, opened: 3 });
    expect(first.body.data[0]?.rates).to.include({ open_rate: 3 / 7, rate_basis: "delivered" });
    const second = await call(`?${day}&limit=2&cursor=${first.body.next_cursor}`, of);
    expect(second.body.data.map(({ key }) => key)).to.deep.equal([ids[0]]);
    expect(second.body.has_more).to.equal(false);
    const labelled = await call(`?${day}&label=spring`, of);
    expect(labelled.body.data.map(({ key }) => key)).to.deep.equal([ids[1]]);
  });

  it("are added up by label, each under all of its own", async () => {
    const of = await own();
    await seed(of, now - hourMs, { ...counts(5, 1), labels: ["spring", "news"] });
    await seed(of, now - hourMs, { ...counts(9, 3), labels: ["spring"] });
    await seed(of, now - hourMs, { ...counts(2, 0), channels: ["ios_push"] });
    const { body } = await call(`?${range(now - dayMs, now)}&group_by=label`, of);
    expect(
      body.data.map(({ key, totals, rates }) => [key, totals.sent, totals.opened, rates.rate_basis]),
    ).to.deep.equal([
      ["spring", 14, 4, "delivered"],
      ["news", 5, 1, "delivered"],
      ["none", 2, 0, "sent"],
    ]);
    const odd = ['$set.a"b', "50 % off, today", "–üöß 🎈\\n", "none.", "__proto__"];
    await seed(of, now - hourMs, { ...counts(1, 1), labels: odd });
    const all = (await call(`?${range(now - dayMs, now)}&group_by=label&sort=sent`, of)).body.data;
    expect(all.filter(({ totals }) => totals.sent === 1).map(({ key }) => key)).to.have.members(odd);
    for (const label of odd.slice(0, 2)) {
      const { body: found } = await call(`?${range(now - dayMs, now)}&label=${encodeURIComponent(label)}`, of);
      expect(
        found.data.map(({ totals }) => totals.sent),
        label,
      ).to.deep.equal([1]);
    }
    const page = await call(`?${range(now - dayMs, now)}&group_by=label&label=news&sort=sent&limit=1`, of);
    expect(page.body.data.map(({ key }) => key)).to.deep.equal(["news"]);
    expect(page.body.has_more).to.equal(true);
  });

  it("are sorted by a metric or rate, in pages", async () => {
    const of = await own();
    const sizes = [
      [10, 2],
      [40, 4],
      [20, 10],
      [0, 0],
    ] as const;
    const ids: string[] = [];
    for (const [sent, opened] of sizes) ids.push(await seed(of, now - hourMs, counts(sent, opened)));
    const keys = async (query: string) => {
      const { body } = await call(`?${range(now - dayMs, now)}&${query}`, of);
      return { keys: body.data.map(({ key }) => ids.indexOf(key)), cursor: body.next_cursor };
    };
    const page = await keys("sort=-sent&limit=3");
    expect(page.keys).to.deep.equal([1, 2, 0]);
    expect((await keys(`sort=-sent&limit=3&cursor=${page.cursor}`)).keys).to.deep.equal([3]);
    expect((await keys("sort=-open_rate")).keys).to.deep.equal([2, 0, 1, 3]);
    expect((await keys("sort=open_rate")).keys[0]).to.equal(3);
  });

  it("are added up by campaign and template, from the deliveries of the range", async () => {
    const of = await own();
    const cell = (campaign_id: string | null, sent: number): Cell => ({
      channel: "email",
      source: "campaign",
      template_id: "tpl_1",
      category: null,
      provider: null,
      campaign_id,
      counts: { targeted: sent, sent, delivered: sent },
    });
    await deliveryCounters(site.db).keep(ofApp(of.app), quarterOf(new Date(now - hourMs)), {
      ...noCounts,
      at: new Date(),
      cells: [cell("spring", 3), cell("autumn", 8), cell(null, 1)],
      labels: [{ ...cell("spring", 2), name: "vip" }],
    });
    const day = range(now - dayMs, now);
    const { body } = await call(`?${day}&group_by=campaign_id`, of);
    expect(body.data.map(({ key, message_id: id, totals: { sent } }) => [key, id, sent])).to.deep.equal([
      ["autumn", null, 8],
      ["spring", null, 3],
      ["none", null, 1],
    ]);
    const byTemplate = await call(`?${day}&group_by=template_id&campaign_id=spring&channel=email`, of);
    expect(byTemplate.body.data.map(({ key, totals: { sent } }) => [key, sent])).to.deep.equal([["tpl_1", 3]]);
    const ofLabel = await call(`?${day}&group_by=campaign_id&label=vip`, of);
    expect(ofLabel.body.data.map(({ key, totals: { sent } }) => [key, sent])).to.deep.equal([["spring", 2]]);
  });

  const variants = [
    { id: "a", name: "held out", weight_percent: 50, is_control: true, content: {} },
    { id: "b", name: "sent", weight_percent: 50, is_control: false, content: {} },
  ];

  const seedReported = async (of: Own, targeted: number) => {
    const ofRow = { tenant_id: of.app.tenant_id, app_id: of.app._id };
    const id = await seed(of, now - hourMs, {
      counts: { ...zeroCounts(), targeted, sent: 3 },
      variants,
      variant_counts: {
        a: { targeted: 100, suppressed: 100, converted: 10 },
        b: { targeted: 100, sent: 100, converted: 15 },
      },
    });
    const made = new Date(now - hourMs);
    const after = (ms: number) => new Date(made.getTime() + ms);
    const one = (change: Partial<DeliveryRow>) =>
      aMail(ofRow, { message_id: id, created_at: made, sent_at: after(200), variant_id: "b", ...change }).delivery;
    const clicked = { status: "clicked", clicked_at: after(9_000), delivered_at: after(2_200) } as const;
    const { sent_at: _sent, ...unsent } = one({ status: "suppressed", variant_id: "a" });
    await site.db.collection<DeliveryRow>(deliveryCollection.name).insertMany([
      one({ ...clicked, clicked_url: "https://shop.example/spring?user=7", clicked_button_id: "buy" }),
      one({
        ...clicked,
        clicked_url: "https://shop.example/spring?user=8",
        clicks: [
          { at: after(900), url: "https://shop.example/scanned", machine: "pace" },
          { at: after(9_000), url: "https://shop.example/spring?user=8" },
          { at: after(90_000), url: "https://shop.example/spring?user=8" },
          { at: after(95_000), url: "https://shop.example/sale", button_id: "buy" },
        ],
        click_count: 3,
      }),
      one({ status: "bounced", bounced_at: after(900), error_code: "HARD_BOUNCE" }),
      { ...unsent, suppression_reason: "control_group" },
    ]);
    return id;
  };

  const expectParts = ({ parts }: MessageReport): void => {
    const told = parts?.by_channel.map(({ channel, totals }) => [
      channel,
      totals.targeted,
      totals.clicked,
      totals.clicks_total,
    ]);
    expect(told).to.deep.equal([["email", 4, 2, 4]]);
    expect(parts?.by_platform).to.deep.equal([]);
    expect(parts?.failures).to.deep.equal([{ error_code: "HARD_BOUNCE", channel: "email", count: 1 }]);
    expect(parts?.suppressions).to.deep.equal([{ reason: "control_group", count: 1 }]);
    expect(parts?.links).to.deep.equal([
      { url: "https://shop.example/spring", unique_clicks: 2, total_clicks: 3 },
      { url: "https://shop.example/sale", unique_clicks: 1, total_clicks: 1 },
    ]);
    expect(parts?.buttons).to.deep.equal([{ id: "buy", clicks: 2 }]);
    const points = parts?.series.filter((one) => one.sent + one.clicked > 0) ?? [];
    expect(points.reduce((sum, one) => sum + one.sent, 0)).to.equal(3);
    expect(points.reduce((sum, one) => sum + one.clicked, 0)).to.equal(2);
    const [{ sent, delivered } = { sent: null, delivered: null }] = parts?.latency ?? [];
    expect(sent?.median_ms).to.be.within(196, 204);
    expect(delivered?.p95_ms).to.be.within(1_960, 2_040);
  };

  it("are reported one by one: variants against the control, channels, failures, links, buttons, latency", async () => {
    const of = await own();
    const id = await seedReported(of, 4);
    const { status, body } = await call(`/${id}`, of);
    expect(status).to.equal(200);
    expectParts(body);
    expect(body.variants?.map((one) => [one.id, one.is_control, one.uplift])).to.deep.equal([
      ["a", true, null],
      ["b", false, 0.15 / 0.1 - 1],
    ]);
    expect(body.variants?.[1]?.uplift_ci).to.have.length(2);
    const sure = body.variants?.map(({ confidence }) => confidence) ?? [];
    expect(sure[0]).to.equal(null);
    expect(sure[1]).to.be.closeTo(0.6076, 0.0001); // z = 0.04 ÷ √(0.125 · 0.875 · 0.02) = 0.855
    expect(body.message).to.deep.include({ id, status: "completed" });
  });

  it("tell pushes apart by what devices run on", async () => {
    const of = await own();
    const id = await seed(of, now - hourMs, counts(3, 0));
    const ofRow = { tenant_id: of.app.tenant_id, app_id: of.app._id };
    const sent = (channel: DeliveryRow["channel"]) => aMail(ofRow, { message_id: id, channel }).delivery;
    const rows = site.db.collection<DeliveryRow>(deliveryCollection.name);
    await rows.insertMany([sent("ios_push"), sent("web_push"), sent("ios_push"), sent("email")]);
    const { parts } = (await call(`/${id}`, of)).body;
    const told = parts?.by_platform.map(({ platform, totals }) => [platform, totals.targeted]);
    expect(told).to.deep.equal([
      ["ios", 2],
      ["web", 1],
    ]);
  });

  it("with many deliveries are told apart by a job once somebody asks, and again when they have changed", async () => {
    const of = await own();
    const id = await seedReported(of, 5_000);
    const reports = () => site.db.collection<MessageReportRow>(messageReportCollection.name);
    const run = async () => {
      const stopping = new AbortController().signal;
      const deps = { holder: randomUUID(), stopping, clock, log: keptLog().log, metrics: createMetrics("dispatcher") };
      await messageReportJob({ db: site.db, clock }).run(id, { ...deps, timing: timings.short }, stopping);
    };
    expect((await call(`/${id}`, of)).body.parts).to.equal(null);
    await run();
    const made = await call(`/${id}`, of);
    expectParts(made.body);
    expect((await reports().findOne({ _id: id }))?.due_at).to.equal(null);
    const messages = site.db.collection<MessageRow>(messageCollection.name);
    await messages.updateOne({ _id: id }, { $set: { updated_at: new Date() } });
    await call(`/${id}`, of);
    const asked = await reports().findOne({ _id: id });
    expect(asked?.due_at?.getTime()).to.be.at.least(asked?.rests_until.getTime() ?? Number.POSITIVE_INFINITY);
  });

  it("are those of the app alone, and what cannot be asked is refused by its member", async () => {
    const [of, other] = [await own(), await own()];
    const id = await seed(of, now - hourMs, counts(1, 1));
    expect((await call(`/${id}`, other)).status).to.equal(404);
    expect((await call(`/${id}`, { app: of.app, token: tenant.token })).status).to.equal(404);
    expect((await call(`?${range(now - dayMs, now)}`, other)).body.data).to.deep.equal([]);
    const faults = [
      ["?channel=email", "channel"],
      ["?source=api,test", "source"],
      ["?group_by=campaign_id&label=a&segment_id=seg_1", "segment_id"],
      ["?segment_id=seg_1", "segment_id"],
      ["?group_by=label&sort=created_at", "sort"],
      ["?group_by=label&channel=email", "channel"],
      ["?group_by=journey_id", "group_by"],
      ["?sort=machine_opens", "sort"],
      ["?limit=101", "limit"],
      ["?cursor=nonsense", "cursor"],
      [`/${id}?interval=week`, "interval"],
      [`/${id}?timezone=Mars/Olympus`, "timezone"],
    ] as const;
    for (let n = 0; n < faults.length; n += 4) {
      const asking = n === 0 ? of : await own(); // each app may ask five times a second
      for (const [query, field] of faults.slice(n, n + 4)) {
        const { status, body } = await call(query, asking);
        expect([status, body.error?.details["field"]], query).to.deep.equal([400, field]);
      }
    }
  });
});
