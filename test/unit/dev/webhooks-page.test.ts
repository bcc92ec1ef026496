import { readFileSync } from "node:fs";
import { expect } from "chai";
import { Registry } from "prom-client";
import { ApiserverConfig } from "#config/apiserver.ts";
import { DispatcherConfig } from "#config/dispatcher.ts";
import { nextRequestAt } from "#core/domain/webhooks/retry.ts";
import { watchWebhookLevels, webhookMetrics } from "#core/runtime/metrics/webhooks.ts";
import { CreateWebhook, webhookDeliveryStatuses } from "#core/schema/webhooks/webhook.ts";

const page = readFileSync(new URL("../../../docs/webhooks.md", import.meta.url), "utf8");

/** First cells of the table below a header. */
const firstCells = (header: string): string[] => {
  const [, table = ""] = page.split(`${header}\n`);
  return [...(table.split("\n\n")[0] ?? "").matchAll(/^\| (.+?) \|/gm)].map(([, cell = ""]) => cell);
};
const named = (pattern: RegExp): string[] => [...new Set([...page.matchAll(pattern)].map(([name]) => name))].sort();

describe("the page on webhooks", () => {
  it("explains every state of a delivery", () => {
    const documented = firstCells("| Delivery | Meaning |").map((cell) => cell.replaceAll("`", ""));
    expect(documented).to.deep.equal([...webhookDeliveryStatuses]);
  });

  it("gives the schedule of retries as it is", () => {
    const start = new Date(0);
    const gapMinutes = [1, 2, 3, 4, 5, 6].map((n) => {
      const at = nextRequestAt(n, start, null, () => 0);
      return at === null ? Number.NaN : at.getTime() / 60_000;
    });
    const [, table = ""] = page.split("| Request | Wait before it");
    const documented = [...table.matchAll(/^\| [2-7] \| (\d+) (min|h) \|/gm)];
    expect(documented.map(([, n, unit]) => Number(n) * (unit === "h" ? 60 : 1))).to.deep.equal(gapMinutes);
  });

  it("names every metric of webhooks, and none that there is not", async () => {
    const registry = new Registry();
    webhookMetrics(registry);
    watchWebhookLevels(registry, { endpointQueues: () => 0, inFlight: () => 0, partitions: () => 0 });
    const there = registry.getMetricsAsArray().map(({ name }) => name);
    const documented = named(/herald_webhook_\w+/g).map((name) => name.replace(/_bucket$/, ""));
    expect([...new Set(documented)].sort()).to.deep.equal(there.sort());
  });

  it("names no setting that there is not", () => {
    const settings = [...Object.values(DispatcherConfig.properties), ...Object.values(ApiserverConfig.properties)];
    const there = settings.map((setting) => ("env" in setting ? setting.env : ""));
    expect(there).to.include.members(named(/HERALD_\w+/g));
  });

  it("explains every member that shapes what is sent", () => {
    const [, table = ""] = page.split("| Member | Effect |\n");
    const members = Object.keys(CreateWebhook.properties).filter(
      (name) => !["url", "description", "headers", "timeout_ms"].includes(name), // explained in words
    );
    for (const name of members) expect(table.split("\n\n")[0]).to.include(`\`${name}`);
  });
});
