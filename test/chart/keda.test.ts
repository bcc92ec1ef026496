import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { testDir } from "../../dev/files/paths.ts";
import { freePorts } from "../../dev/processes/free-ports.ts";
import type { Server } from "../../dev/processes/process.ts";
import { startNats } from "../../dev/servers/nats.ts";
import { type Installation, installation } from "../integration/operator/support/harness.ts";
import { manifests } from "../integration/operator/support/manifests.ts";
import { testServers } from "../support/servers/servers.ts";
import { type Sending, seedDevices, send, startSending } from "../support/system/sending.ts";
import type { SystemProgram } from "../support/system/system.ts";
import { until } from "../support/until.ts";
import { objectsIn, render, valuesFiles } from "./support/helm.ts";

/** What KEDA reads of a trigger. */
type Trigger = Record<"natsServerMonitoringEndpoint" | "account" | "stream" | "consumer" | "lagThreshold", string>;
/** What KEDA reads of NATS's answer. */
type Jsz = {
  account_details?: {
    name: string;
    stream_detail?: {
      name: string;
      consumer_detail?: { name: string; num_pending: number; num_ack_pending: number }[];
    }[];
  }[];
};

const anyMs = 60_000;
const sent = 5;

describe("what KEDA asks NATS by the chart's triggers", () => {
  let dir: string;
  let nats: Server;
  let herald: Installation;
  let sending: Sending;
  let apiserver: SystemProgram;
  let triggers: Trigger[];

  before(async () => {
    const [port = 0, monitorPort = 0] = await freePorts(2);
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "keda-"));
    const servers = { ...(await testServers()), natsUrl: `nats://127.0.0.1:${port}` };
    nats = await startNats({ dir, port, monitorPort });
    sending = await startSending(servers);
    const natsPrefix = sending.system.prefix;
    herald = await installation(servers);
    await herald.start({ settings: { natsPrefix } });
    const plan = manifests(herald).plan();
    await herald.apply(plan);
    triggers = await triggersOf(`127.0.0.1:${monitorPort}`, natsPrefix, ["enterprise", plan.metadata.name]);
    apiserver = await sending.system.start("apiserver");
  });
  after(async () => {
    await herald?.close();
    await sending?.close();
    await nats?.kill();
    await rm(dir, { recursive: true, force: true });
  });

  /** What waits by each trigger. */
  const lags = async (): Promise<Record<string, number | null>> => {
    const found = triggers.map(async (one) => [`${one.stream} ${one.consumer}`, await lagOf(one)] as const);
    return Object.fromEntries(await Promise.all(found));
  };
  const ofMessages = (consumer: string): string => `${sending.system.prefix}-work-enterprise ${consumer}`;

  it("is answered for every trigger once a plan is Ready, with nothing that waits at first", async () => {
    expect(triggers).to.have.length(26);
    let found: Record<string, number | null> = {};
    await until(async () => {
      found = await lags();
      return Object.values(found).every((lag) => lag === 0);
    }, anyMs).catch(() => expect.fail(JSON.stringify(found)));
  });

  it("counts what waits, also what a dispatcher has taken and not done, until it is done", async () => {
    const devices = await seedDevices(sending.system, sent);
    for (const { _id } of devices)
      await send(sending.system, apiserver, { target: { include_subscription_ids: [_id] } });
    await until(async () => (await lags())[ofMessages("plan")] === sent, anyMs);
    const consumer = await herald.nats.js.consumers.get(`${sending.system.prefix}-work-enterprise`, "plan");
    const taken = await consumer.next({ expires: anyMs });
    expect((await lags())[ofMessages("plan")]).to.equal(sent);
    taken?.nak();

    await sending.system.start("dispatcher");
    await until(async () => Object.values(await lags()).every((lag) => lag === 0), anyMs);
    expect(sending.apns.log.counts().accepted).to.equal(sent);
  });
});

/** Of the ScaledObject of an installation with these plans, and with this monitor and prefix of NATS. */
const triggersOf = async (monitor: string, prefix: string, plans: readonly string[]): Promise<Trigger[]> => {
  const keda = "dispatcher.autoscaling.keda";
  const changes = [`nats.monitoringEndpoint=${monitor}`, `nats.prefix=${prefix}`, `${keda}.plans={${plans.join(",")}}`];
  const text = await render(valuesFiles["keda"] ?? "", "x", ...changes.flatMap((change) => ["--set", change]));
  const { spec } =
    objectsIn(text).find(({ kind }) => kind === "ScaledObject") ?? expect.fail("there is no ScaledObject");
  const { triggers } = spec as { triggers: { type: string; metadata: Trigger }[] }; // KEDA's shape
  return triggers.flatMap(({ type, metadata }) => (type === "nats-jetstream" ? [metadata] : []));
};

/**
 * What KEDA scales by: the request and the sum are those of its scaler (kedacore/keda 2.20, pkg/scalers/nats_jetstream_scaler.go).
 * null where it finds no such consumer, for which it fails.
 */
const lagOf = async ({ natsServerMonitoringEndpoint, account, stream, consumer }: Trigger): Promise<number | null> => {
  const query = new URLSearchParams({ acc: account, consumers: "true", config: "true" });
  const reply = await fetch(`http://${natsServerMonitoringEndpoint}/jsz?${query.toString()}`);
  const { account_details: accounts = [] } = (await reply.json()) as Jsz; // documented: NATS monitoring, /jsz
  const streams = accounts.find(({ name }) => name === account)?.stream_detail ?? [];
  const consumers = streams.find(({ name }) => name === stream)?.consumer_detail ?? [];
  const found = consumers.find(({ name }) => name === consumer);
  return found === undefined ? null : found.num_pending + found.num_ack_pending;
};
