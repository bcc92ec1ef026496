import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { callbackStream, eventStream, jobStream, planStream } from "#core/queue/jetstream/topology.ts";
import { operations, outsides } from "../../../apiserver/features.ts";
import { testPartitioning } from "../../support/rows/partitioning.ts";
import { testServers } from "../../support/servers/servers.ts";
import { type Sending, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

/** Labels of a metric's series, and their values. */
type Series = { labels: Record<string, string>; value: number };

/** The consumers of all partitions have one histogram. */
const seriesOfConsumer = (consumer: string): string => consumer.replace(/^webhooks-\d+$/, "webhooks");

describe("rate, errors and duration", () => {
  let sending: Sending;
  let api: SystemProgram;
  let dispatcher: SystemProgram;

  before(async () => {
    sending = await startSending(await testServers());
    const { system } = sending;
    [api, dispatcher] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
  });
  after(() => sending?.close());

  const seriesOf = async ({ healthUrl }: SystemProgram, metric: string): Promise<Series[]> => {
    const page = await (await fetch(`${healthUrl}/metrics`)).text();
    return [...page.matchAll(new RegExp(`^${metric}\\{(.*)\\} (\\S+)$`, "gm"))].map(([, labels = "", value]) => ({
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", text = ""]) => [name, text]),
      ),
      value: Number(value),
    }));
  };
  const valuesOf = async (program: SystemProgram, metric: string, label: string): Promise<string[]> =>
    [...new Set((await seriesOf(program, metric)).map(({ labels }) => labels[label] ?? ""))].toSorted();

  it("are there of every route, by its template", async () => {
    const nothing = { headers: { authorization: "Bearer nobody" }, redirect: "manual" } as const;
    const asked = operations.map(({ method, path }) => ({ method, path, at: path.replaceAll(/\{\w+\}/g, "x") }));
    const others = outsides.map(({ prefix, path }) => ({ method: "GET", path, at: `${prefix}x` }));
    const all = [...asked, ...others];
    for (const { method, at } of all) await (await fetch(`${api.url}${at}`, { method, ...nothing })).arrayBuffer();
    const requests = await seriesOf(api, "herald_http_requests_total");
    const durations = await seriesOf(api, "herald_http_request_duration_seconds_count");
    const lacksOne = ({ method, path }: { method: string; path: string }): boolean => {
      const isOf = ({ labels, value }: Series) => labels["route"] === path && labels["method"] === method && value > 0;
      const [rate, time] = [requests.filter(isOf), durations.filter(isOf)];
      return (
        rate.length === 0 || time.length === 0 || rate.some(({ labels }) => !/^\d{3}$/.test(labels["status"] ?? ""))
      );
    };
    expect(all.filter(lacksOne).map(({ method, path }) => `${method} ${path}`)).to.deep.equal([]);
    const known = new Set([...all.map(({ path }) => path), "none"]);
    expect(requests.filter(({ labels }) => !known.has(labels["route"] ?? ""))).to.deep.equal([]); // no path of a caller's
  });

  it("are there of every consumer from the start on", async () => {
    const { prefix } = sending.system;
    const specs = [
      planStream(prefix, { name: "x", backlogPerTenant: 1 }, timings.short),
      eventStream(prefix, timings.short, testPartitioning),
      callbackStream(prefix, timings.short),
    ];
    const consumers = [...specs, jobStream(prefix, timings.short)].flatMap(({ consumers: of }) =>
      of.map(({ durable_name: name }) => name),
    );
    const settlements = await seriesOf(dispatcher, "herald_queue_messages_total");
    for (const settlement of ["done", "retry", "drop", "failed"]) {
      const counted = settlements.filter(({ labels }) => labels["settlement"] === settlement);
      expect(counted.map(({ labels }) => labels["consumer"])).to.include.members(consumers);
    }
    const durations = await valuesOf(dispatcher, "herald_queue_handle_duration_seconds_count", "consumer");
    expect(durations).to.deep.equal([...new Set(consumers.map(seriesOfConsumer))].toSorted());
  });

  it("are there of every timer and type of job from the start on", async () => {
    await until(async () => (await valuesOf(dispatcher, "herald_timers_handled_total", "source")).length > 0);
    const sources = await valuesOf(dispatcher, "herald_timers_handled_total", "source");
    expect(sources).to.include.members(["messages", "chunks", "exports"]);
    expect(await valuesOf(dispatcher, "herald_timers_lag_seconds_count", "source")).to.deep.equal(sources);
    expect(await valuesOf(dispatcher, "herald_set_aside_total", "source")).to.include.members(sources);
    const types = await valuesOf(dispatcher, "herald_jobs_total", "type");
    expect(types).to.include.members(["exports", "imports", "removals"]);
    expect(await valuesOf(dispatcher, "herald_job_run_duration_seconds_count", "type")).to.deep.equal(types);
  });
});
