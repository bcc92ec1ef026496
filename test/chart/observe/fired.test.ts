import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { StatusDocument } from "#core/schema/status/status.ts";
import { findTool } from "../../../dev/files/find-tool.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { type Installation, installation } from "../../integration/operator/support/harness.ts";
import { manifests } from "../../integration/operator/support/manifests.ts";
import { privateServers, testServers } from "../../support/servers/servers.ts";
import { post, type Sending, seedDevices, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { addEndpoint, anEvent, loopbackAllowed, postEvents } from "../../support/webhooks/traffic.ts";
import { firstLook } from "./first-look.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";
import { quickRules } from "./quick-rules.ts";

const nowhere = "127.0.0.1:9"; // where nobody listens
const withinMs = 240_000; // it only ends what hangs: a dispatcher finds an endpoint that it was not told of after a minute

/** One thing after another breaks in one installation; each alert is awaited, and what its runbook says to look at first shows the cause. */
describe("alerts that a real Prometheus fires for a planted cause", function () {
  this.timeout(900_000); // every wait inside has a bound of its own
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let stores: Awaited<ReturnType<typeof privateServers<"mongodb" | "nats" | "redis">>>;
  let sending: Sending;
  let programs: Record<"operator" | "apiserver" | "cutOff" | "dispatcher", SystemProgram>;
  let prometheus: Prometheus;
  let dir: string;

  before(async () => {
    const program = findTool("prometheus") ?? expect.fail("prometheus is missing: make install-chart-tools");
    dir = await mkdtemp(join(tmpdir(), "fired-"));
    await testServers();
    [herald, stores] = await Promise.all([installation(), privateServers({ mongodb: true, nats: true, redis: true })]);
    make = manifests(herald);
    const [mongodbUrl, natsUrl, redisUrl] = [stores.mongodb.url, stores.nats.url, stores.redis.url];
    sending = await startSending({ mongodbUrl, natsUrl, redisUrl });
    const [port = 0] = await freePorts(1);
    programs = await startAll(`http://127.0.0.1:${port}`);
    const targets = Object.entries(programs).map(([pod, { healthUrl }]) => ({
      address: new URL(healthUrl).host,
      labels: { namespace: "herald", pod },
    }));
    prometheus = await startPrometheus(program, { targets, ruleFiles: await quickRules(dir), port });
    await until(async () => (await prometheus.query("up == 1")).length === targets.length, withinMs);
  });
  after(async () => {
    await prometheus?.stop();
    for (const store of [stores?.mongodb, stores?.nats]) await store?.start().catch(() => {}); // what is stopped last uses them
    await sending?.close();
    await herald?.close();
    await stores?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const startAll = async (prometheusUrl: string) => {
    const { system } = sending;
    const traces = { HERALD_OTLP_ENDPOINT: `http://${nowhere}`, HERALD_TRACE_RATIO: "1" };
    const judged = { HERALD_PROMETHEUS_URL: prometheusUrl, HERALD_PROMETHEUS_SELECTOR: 'namespace="herald"' };
    const cluster = { KUBECONFIG: herald.servers.kubeconfig, HERALD_OPERATOR_SELECTOR: herald.settings.labelSelector };
    const [operator, apiserver, cutOff, dispatcher] = await Promise.all([
      system.start("operator", { ...cluster, HERALD_OPERATOR_LEASE: herald.settings.leaseName }),
      system.start("apiserver", { ...loopbackAllowed, ...traces, ...judged }),
      system.start("apiserver", { ...loopbackAllowed, HERALD_REDIS_URL: `redis://${nowhere}` }),
      system.start("dispatcher", loopbackAllowed),
    ]);
    return { operator, apiserver, cutOff, dispatcher };
  };

  /** Does it again and again, if it is given, until the alert fires. */
  const fires = async (alert: string, again: () => Promise<unknown> = async () => undefined): Promise<void> => {
    const expr = `ALERTS{alertname="${alert}",alertstate="firing",namespace=~"herald|"}`;
    await until(async () => {
      await again();
      return (await prometheus.query(expr)).length > 0;
    }, withinMs).catch(() => expect.fail(`${alert} did not fire`));
  };
  /** Does what an alert's runbook begins with, until it shows all of these words. */
  const shows = (alert: string, ...words: string[]): Promise<void> => {
    const { apiserver, cutOff, dispatcher } = programs;
    const of = { apiserver: [apiserver, cutOff], dispatcher: [dispatcher] };
    return firstLook({ kubeconfig: herald.servers.kubeconfig, prometheus, programs: of, withinMs }, alert, words);
  };
  const sendTo = (ids: readonly string[], by = programs.apiserver) =>
    post(sending.system, by, { target: { include_subscription_ids: ids } });

  it("HeraldResourcesRefused: a resource with a mistake, which the runbook's first command shows", async () => {
    for (const object of [make.namespace, make.plan(), make.tenant()]) await herald.apply(object);
    await herald.ready(make.tenant());
    await herald.apply(make.app({ timeZone: "Nowhere/Else" }));
    await fires("HeraldResourcesRefused");
    await shows("HeraldResourcesRefused", "InvalidTimeZone");
  });

  it("HeraldReplicaCutOff and HeraldRateLimitsLocal: one apiserver does not reach Redis", async () => {
    await fires("HeraldReplicaCutOff");
    await shows("HeraldReplicaCutOff", '"pod":"cutOff"', '"dependency":"redis"');
    const [device] = await seedDevices(sending.system, 1);
    await fires("HeraldRateLimitsLocal", () => sendTo([device?._id ?? ""], programs.cutOff));
    await shows("HeraldRateLimitsLocal", '"pod":"cutOff"');
  });

  it("HeraldSpansLost: nobody takes the traces", async () => {
    const [device] = await seedDevices(sending.system, 1);
    await fires("HeraldSpansLost", () => sendTo([device?._id ?? ""]));
    await shows("HeraldSpansLost", "ECONNREFUSED");
  });

  it("HeraldWebhooksFailEverywhere: no endpoint can be reached", async () => {
    await addEndpoint(sending.system, { url: `http://${nowhere}/a`, names: ["a"] });
    let posted = 0;
    await fires("HeraldWebhooksFailEverywhere", () =>
      postEvents(sending.system, programs.apiserver, [anEvent("a", ++posted)]),
    );
    await shows("HeraldWebhooksFailEverywhere", '"error_class":"connect"');
  });

  it("HeraldInvalidationsHeld: a provider says of everybody that they are gone", async () => {
    sending.apns.script({ answers: [{ status: 410, reason: "Unregistered" }] });
    const devices = await seedDevices(sending.system, 60);
    await sendTo(devices.map(({ _id }) => _id));
    await fires("HeraldInvalidationsHeld");
    await shows("HeraldInvalidationsHeld", sending.system.app._id);
  });

  it("HeraldCredentialsRefused: a provider does not take the account's key", async () => {
    sending.apns.script({ answers: [{ status: 403, reason: "InvalidProviderToken" }] });
    const [device] = await seedDevices(sending.system, 1);
    await fires("HeraldCredentialsRefused", () => sendTo([device?._id ?? ""]));
    await shows("HeraldCredentialsRefused", sending.system.app._id, '"channel":"ios_push"');
    sending.apns.script({});
  });

  it("HeraldResourcesWaiting and HeraldStoreUnreachable: JetStream is away, and /readyz names it", async () => {
    await stores.nats.stop();
    await fires("HeraldStoreUnreachable");
    await shows("HeraldStoreUnreachable", '"program":"dispatcher"', '"dependency":"jetstream"');
    const ready = await fetch(`${programs.dispatcher.healthUrl}/readyz`);
    expect({ status: ready.status, names: (await ready.text()).includes("jetstream") }).to.deep.equal({
      status: 503,
      names: true,
    });
    await herald.apply(make.plan({}, `${herald.id}-late`));
    await fires("HeraldResourcesWaiting");
    await shows("HeraldResourcesWaiting", `${herald.id}-late`, "Unknown");
    await stores.nats.start();
  });

  it("HeraldProgramDown: no dispatcher runs, and the status says so by the same Prometheus", async () => {
    const delivery = async (): Promise<string | undefined> => {
      const reply = await fetch(`${programs.apiserver.url}/status.json`);
      const { components } = (await reply.json()) as StatusDocument; // the apiserver's own
      return components.find(({ name }) => name === "delivery")?.status;
    };
    await programs.dispatcher.kill();
    await fires("HeraldProgramDown");
    await shows("HeraldProgramDown");
    await until(async () => (await delivery()) === "major_outage", withinMs);
  });

  it("HeraldAcceptBudgetBurnsFast and HeraldApiBudgetBurnsFast: MongoDB is away", async () => {
    await stores.mongodb.stop();
    await fires("HeraldAcceptBudgetBurnsFast", () => sendTo(["sub"]).catch(() => undefined));
    await fires("HeraldApiBudgetBurnsFast");
    const answers = ['"status":"503"', '"route":"/v1/notifications"'];
    for (const alert of ["HeraldAcceptBudgetBurnsFast", "HeraldApiBudgetBurnsFast"]) await shows(alert, ...answers);
  });
});
