import { expect } from "chai";
import { Registry } from "prom-client";
import { createMetrics, createProcessMetrics } from "#core/runtime/metrics/registry.ts";
import { scrape } from "#core/runtime/metrics/scrape.ts";
import { metricsIn } from "#core/runtime/metrics/series.ts";

const openMetrics = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe("a scrape", () => {
  it("gives OpenMetrics to who asks for it, with exemplars of sampled traces only", async () => {
    const registry = new Registry();
    const { counterFromZero, tracedHistogram } = metricsIn(registry);
    counterFromZero("things_total", 'things "so"\nto say', [{ kind: 'a "b"\\' }]);
    const seconds = tracedHistogram("work_seconds", "work", [0.5, 1], ["of"]);
    seconds.observe({ of: "x" }, 0.25, traceparent);
    seconds.observe({ of: "x" }, 0.75, traceparent.replace(/01$/, "00"));
    seconds.observe({ of: "x" }, 7);
    const { type, body } = await scrape(registry, openMetrics);
    expect(type).to.equal("application/openmetrics-text; version=1.0.0; charset=utf-8");
    expect(body.replaceAll(/ \d{10}(?:\.\d+)?$/gm, " AT").split("\n")).to.deep.equal([
      "# TYPE things counter",
      '# HELP things things "so"\\nto say',
      'things_total{kind="a \\"b\\"\\\\"} 0',
      "# TYPE work_seconds histogram",
      "# HELP work_seconds work",
      'work_seconds_bucket{le="0.5",of="x"} 1 # {trace_id="0af7651916cd43dd8448eb211c80319c",span_id="b7ad6b7169203331"} 0.25 AT',
      'work_seconds_bucket{le="1.0",of="x"} 2',
      'work_seconds_bucket{le="+Inf",of="x"} 3',
      'work_seconds_sum{of="x"} 8',
      'work_seconds_count{of="x"} 3',
      "# EOF",
      "",
    ]);
  });

  it("gives the same names as text afterwards, without exemplars", async () => {
    const { registry, queue } = createMetrics("dispatcher");
    queue.handleSeconds.observe({ consumer: "plan" }, 1, traceparent);
    const before = await registry.metrics();
    await scrape(registry, openMetrics);
    const { type, body } = await scrape(registry, "text/plain;version=0.0.4");
    expect(type).to.equal("text/plain; version=0.0.4; charset=utf-8");
    const names = (page: string) => page.split("\n").filter((line) => line.startsWith("# TYPE"));
    expect(names(body)).to.deep.equal(names(before));
    expect(body).not.to.include("trace_id");
  });

  it("shows a histogram from its declaration on, which may be repeated", async () => {
    const registry = new Registry();
    const seconds = metricsIn(registry).tracedHistogram("work_seconds", "work", [1], ["of"]);
    seconds.zero({ of: "x" });
    expect((await scrape(registry)).body).to.include('work_seconds_count{of="x"} 0');
    seconds.observe({ of: "x" }, 1);
    seconds.zero({ of: "x" });
    expect((await scrape(registry)).body).to.include('work_seconds_count{of="x"} 1');
  });

  it("names every counter as OpenMetrics wants it", () => {
    for (const program of ["apiserver", "dispatcher", "operator"] as const) {
      const all = createProcessMetrics(program).registry.getMetricsAsArray() as unknown as {
        name: string;
        type: string;
      }[];
      const counters = all.filter(({ type }) => type === "counter").map(({ name }) => name);
      expect(counters).not.to.deep.equal([]);
      expect(counters.filter((name) => !name.endsWith("_total"))).to.deep.equal([]);
    }
  });
});
