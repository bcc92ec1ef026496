import { expect } from "chai";
import pino from "pino";
import { noUsage } from "#core/domain/usage/figures.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { usageBoard } from "../../../../operator/usage/board.ts";
import { measure } from "../../../../operator/usage/measure.ts";
import { until } from "../../../support/until.ts";

describe("the measuring of tenants", () => {
  /** Twelve tenants: the first makes one delivery, the twelfth twelve; the first has a backlog. */
  const given = () => {
    const usage = new Map(
      Array.from({ length: 12 }, (_, n) => {
        const counts = { ...noUsage(), deliveries: n + 1 };
        return [`ten_${n + 1}`, { last_hour: counts, this_month: counts }] as const;
      }),
    );
    const metrics = createMetrics("operator");
    const stop = new AbortController();
    const clock = { now: () => new Date() };
    const board = usageBoard({
      usage: { ofAll: async () => usage },
      backlogs: { ofAll: async () => new Map([["ten_1", 7]]) },
      clock,
    });
    const names = async (ids: readonly string[]) => new Map(ids.map((id) => [id, `Tenant ${id}`]));
    const run = measure({ board, tenants: { all: () => [] }, names, metrics, clock, log: pino({ level: "silent" }) });
    const named = async () => {
      const { values } = await metrics.tenantUsage.get();
      return [...new Set(values.map(({ labels }) => String(labels.tenant)))];
    };
    return { usage, metrics, stop, board, named, done: run(() => undefined, stop.signal) };
  };

  it("names the ten loudest, and tells what all did", async () => {
    const { metrics, named, stop, done } = given();
    await until(async () => (await named()).length > 0);
    expect(await named()).to.deep.equal(Array.from({ length: 10 }, (_, n) => `ten_${12 - n}`));
    const all = (await metrics.usage.get()).values.find(({ labels }) => labels.figure === "deliveries");
    expect(all?.value).to.equal(78);
    expect((await metrics.webhookBacklog.get()).values[0]?.value).to.equal(7);
    stop.abort();
    await done;
  });

  it("leaves nothing in the metrics when it ends", async () => {
    const { metrics, named, stop, done, board } = given();
    await until(async () => (await named()).length > 0);
    stop.abort();
    await done;
    const { usage, tenantUsage, webhookBacklog, tenantWebhookBacklog } = metrics;
    for (const gauge of [usage, tenantUsage, webhookBacklog, tenantWebhookBacklog])
      expect((await gauge.get()).values).to.deep.equal([]);
    expect(board.of("ten_1")).to.equal(null);
  });
});
