import { expect } from "chai";
import { prometheusFigures } from "../../../apiserver/status/prometheus.ts";
import { findTool } from "../../../dev/files/find-tool.ts";
import { type Installation, installation } from "../../integration/operator/support/harness.ts";
import { manifests } from "../../integration/operator/support/manifests.ts";
import { alerts, records, ruleFiles, selectorsOf, shown } from "../../support/pages/rules.ts";
import { type Sending, seedDevices, send, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { type Inbox, startInbox } from "../../support/webhooks/inbox.ts";
import { addEndpoint, anEvent, loopbackAllowed, postEvents } from "../../support/webhooks/traffic.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";

const requestSeconds = "herald_http_request_duration_seconds_bucket";
const nowhere = "http://127.0.0.1:9"; // a receiver of traces that is not there

describe("rules and dashboards on a Prometheus that scrapes the running programs", function () {
  this.timeout(500_000); // every wait inside has a bound of its own
  let sending: Sending;
  let herald: Installation;
  let inbox: Inbox;
  let prometheus: Prometheus;
  let api: SystemProgram;
  let target: object;

  before(async () => {
    const program = findTool("prometheus") ?? expect.fail("prometheus is missing: make install-chart-tools");
    herald = await installation();
    inbox = await startInbox();
    sending = await startSending(herald.servers);
    const { system } = sending;
    const env = { KUBECONFIG: herald.servers.kubeconfig, HERALD_OPERATOR_SELECTOR: herald.settings.labelSelector };
    const [operator, apiserver, dispatcher] = await Promise.all([
      system.start("operator", { ...env, HERALD_OPERATOR_LEASE: herald.settings.leaseName }),
      system.start("apiserver", { ...loopbackAllowed, HERALD_OTLP_ENDPOINT: nowhere, HERALD_TRACE_RATIO: "1" }),
      system.start("dispatcher", loopbackAllowed),
    ]);
    const targets = Object.entries({ operator, apiserver, dispatcher }).map(([pod, { healthUrl }]) => ({
      address: new URL(healthUrl).host,
      labels: { namespace: "herald", pod },
    }));
    prometheus = await startPrometheus(program, { targets, ruleFiles });
    api = apiserver;
    await makeTraffic(apiserver);
  });
  after(async () => {
    await prometheus?.stop();
    await sending?.close();
    await inbox?.stop();
    await herald?.close();
  });

  /** Some of everything: resources, pushes at once and later, custom events, an endpoint that takes them and one that fails. */
  const makeTraffic = async (apiserver: SystemProgram): Promise<void> => {
    const { system } = sending;
    const make = manifests(herald);
    for (const object of [make.namespace, make.plan(), make.tenant()]) await herald.apply(object);
    await herald.ready(make.tenant());
    await herald.apply(make.app({ timeZone: "Nowhere/Else" }));
    await herald.ready(make.app(), "False");
    inbox.answer("/fails", () => 500);
    await addEndpoint(system, { url: `${inbox.url}/takes`, names: ["a"] });
    await addEndpoint(system, { url: `${inbox.url}/fails`, names: ["a"] });
    const [device] = await seedDevices(system, 1);
    target = { include_subscription_ids: [device?._id] };
    await send(system, apiserver, { target, send_after: new Date(Date.now() + 3_000).toISOString() });
    for (const n of [1, 2, 3]) {
      await postEvents(system, apiserver, [anEvent("a", n)]);
      await sendOne();
    }
    await until(() => inbox.arrivals("/takes").length >= 3 && inbox.arrivals("/fails").length > 0, 60_000);
  };

  const sendOne = async () => sending.system.ended(await send(sending.system, api, { target }), 60_000);

  /** What of a list has no series, once everything has been scraped; the longest rhythm of the programs is a minute. */
  const withoutSeries = async (expressions: readonly { where: string; expr: string }[]): Promise<string[]> => {
    let missing = [...expressions];
    const look = async (): Promise<boolean> => {
      const found = await Promise.all(missing.map(async ({ expr }) => (await prometheus.query(expr)).length > 0));
      missing = missing.filter((_one, index) => !found[index]);
      return missing.length === 0;
    };
    await until(look, 150_000).catch((error: unknown) => {
      if (missing.length === 0) throw error; // a look failed
    });
    return missing.map(({ where, expr }) => `${where}: ${expr}`);
  };

  it("every expression of a dashboard gives series", async () => {
    const asked = shown.map(({ where, expr }) => ({
      where,
      expr: expr.replaceAll("$namespace", "herald").replaceAll("$__rate_interval", "60s"),
    }));
    for (const { expr } of asked) await prometheus.query(expr); // each is understood
    expect(await withoutSeries(asked)).to.deep.equal([]);
  });

  const rules = [
    ...alerts.map(({ alert, expr }) => ({ where: alert, expr })),
    ...records.map(({ record, expr }) => ({ where: record, expr })),
  ];

  it("every metric and label that a rule reads has series", async () => {
    const asked = rules.flatMap(({ where, expr }) =>
      selectorsOf(expr)
        .filter(({ metric }) => !metric.startsWith("herald:"))
        .map(({ metric, labels }) => ({
          where,
          expr: `${metric}{${labels.map((label) => `${label}!=""`).join(",")}}`,
        })),
    );
    expect(asked).to.have.length.above(50);
    expect(await withoutSeries(asked)).to.deep.equal([]);
  });

  it("what a rule counts has series before it happens: one that is born by it shows no increase", async () => {
    const counted = rules.flatMap(({ where, expr }) =>
      selectorsOf(expr)
        .filter(({ metric }) => metric.endsWith("_total"))
        .map(({ text }) => ({ where, expr: text })),
    );
    expect(counted).to.have.length.above(25);
    expect(await withoutSeries(counted)).to.deep.equal([]);
  });

  it("keeps exemplars, which name traces", async () => {
    await until(async () => (await prometheus.exemplars(requestSeconds)).length > 0);
    const lines = (await api.log()).map((line) => line["trace_id"]);
    expect(lines).to.include((await prometheus.exemplars(requestSeconds))[0]);
  });

  it("gives the figures of the public status", async () => {
    const read = prometheusFigures({ url: prometheus.url, selector: 'namespace="herald"' });
    const signal = () => AbortSignal.timeout(60_000);
    await until(async () => {
      await fetch(`${api.url}/healthz`); // counted between two scrapes
      const { requests, dispatchers } = await read(signal());
      return requests > 0 && dispatchers === 1;
    }, 60_000);
    const { slow_requests: slow, requests } = await read(signal());
    expect(slow).to.be.below(requests);
    const none = await prometheusFigures({ url: prometheus.url, selector: 'namespace="other"' })(signal());
    expect(new Set(Object.values(none))).to.deep.equal(new Set([0]));
  });

  it("every rule is evaluated without an error", async () => {
    await until(async () => (await prometheus.faultyRules()).length === 0, 60_000).catch(() => {});
    expect(await prometheus.faultyRules()).to.deep.equal([]);
  });

  it("nothing is critical, or is going to be, while all is well", async () => {
    let critical: unknown[] = [];
    const isCalm = async (): Promise<boolean> => {
      await sendOne(); // one message of four that was late, as the programs had just started, is more than any budget
      critical = await prometheus.query('ALERTS{severity="critical"}'); // pending too: a store that once took over 1 s
      return critical.length === 0;
    };
    await until(isCalm, 60_000).catch(() => {}); // what does not pass is reported below
    expect(critical).to.deep.equal([]);
  });
});
