import { expect } from "chai";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import {
  bucketMs,
  type WebhookStatsChange,
  type WebhookStatsRow,
  webhookStats,
  webhookStatsCollection,
} from "#core/storage/webhooks/stats.ts";
import { planOf } from "../../../../support/queries/plans.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const minutesAgo = (minutes: number) => new Date(noon.getTime() - minutes * 60_000);

const aChange = (over: Partial<WebhookStatsChange> = {}): WebhookStatsChange => ({
  endpointId: "whk_a",
  start: noon,
  requests: 1,
  succeeded: 1,
  latency: { 3: 1 },
  ...over,
});

describe("the statistics of endpoints", () => {
  const db = testDatabase("webhook_stats", [webhookStatsCollection]);
  const rows = () => collectionOf<WebhookStatsRow>(db(), webhookStatsCollection);
  let stats: ReturnType<typeof webhookStats>;

  before(async () => {
    stats = webhookStats(db());
  });

  beforeEach(() => rows().deleteMany({}));

  it("says nothing of an endpoint without requests", async () => {
    const empty = { requests: 0, success_rate: null, p50_ms: null, p99_ms: null, last_error_class: null };
    expect(await stats.summary("whk_a", noon)).to.deep.equal({ last_hour: empty, last_day: empty });
  });

  it("adds up several writes, for the hour and for the day", async () => {
    const failed = {
      succeeded: 0,
      errors: { timeout: 1 },
      last_error: { class: "timeout", at: minutesAgo(90) },
    } as const;
    await stats.add([aChange({ requests: 97, succeeded: 97, latency: { 3: 97 } })]);
    await stats.add([aChange({ requests: 2, succeeded: 1, latency: { 3: 1, 9: 1 }, errors: { dns: 1 } })]);
    await stats.add([aChange({ ...failed, start: minutesAgo(90), latency: { 17: 1 } })]);
    await stats.add([aChange({ ...failed, start: minutesAgo(1_450) })]);
    await stats.add([aChange({ endpointId: "whk_b" })]);
    const { last_hour: hour, last_day: day } = await stats.summary("whk_a", noon);
    expect(hour).to.deep.equal({ requests: 99, success_rate: 98 / 99, p50_ms: 5, p99_ms: 130, last_error_class: null });
    expect(day).to.include({ requests: 100, success_rate: 0.98, p50_ms: 5, p99_ms: 130, last_error_class: "timeout" });
  });

  it("tells the last hour of many endpoints as it tells that of one", async () => {
    const ids = Array.from({ length: 30 }, (_, n) => `whk_${n}`);
    const changes = ids.flatMap((endpointId, n) =>
      [0, 60, 64, 66].map((ago) => aChange({ endpointId, start: minutesAgo(ago), requests: n + ago, succeeded: n })),
    );
    await stats.add(
      changes.map((change) => ({
        ...change,
        start: new Date(change.start.getTime() - (change.start.getTime() % bucketMs)),
      })),
    );
    const hours = await Promise.all(ids.map((id) => stats.lastHour(id, noon)));
    const summaries = await Promise.all(ids.map((id) => stats.summary(id, noon)));
    expect(hours).to.deep.equal(summaries.map(({ last_hour }) => last_hour));
    expect(hours.map(({ requests }) => requests)).to.deep.equal(ids.map((_, n) => 2 * n + 60));
  });

  it("counts the buckets of the window's edge whole", async () => {
    await stats.add([aChange({ start: minutesAgo(60) }), aChange({ start: minutesAgo(65) })]);
    const { last_hour: hour } = await stats.summary("whk_a", new Date(noon.getTime() + 299_000));
    expect(hour.requests).to.equal(1);
  });

  it("loses nothing when processes make the same counters at the same moment", async () => {
    const writer = async (): Promise<void> => {
      let left = Array.from({ length: 20 }, (_, n) => aChange({ endpointId: `whk_${n}` }));
      for (let tries = 0; left.length > 0 && tries < 20; tries++) left = await stats.add(left).catch(() => left);
    };
    await Promise.all(Array.from({ length: 4 }, writer));
    const found = await rows().find().toArray();
    expect(found.map(({ requests }) => requests)).to.deep.equal(Array.from({ length: 20 }, () => 4));
  });

  it("are read by their id, not by looking through all of them", async () => {
    for (let from = 0; from < 3_000; from += 500) {
      await stats.add(Array.from({ length: 500 }, (_, n) => aChange({ endpointId: `whk_${from + n}` })));
    }
    const filter = { _id: { $gte: "whk_7/0", $lte: "whk_7/9999999999999" } };
    const { scans } = await planOf(db(), {
      collection: webhookStatsCollection.name,
      command: "find",
      filter,
      sort: { _id: 1 },
      limit: 289,
    });
    expect(scans).to.deep.equal([]);
  });
});
