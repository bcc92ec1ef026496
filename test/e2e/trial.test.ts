import { expect } from "chai";
import type { CreateNotificationResult } from "#core/schema/messages/message.ts";
import { exportSubscriptions } from "../../dev/demo/export.ts";
import { sendTo } from "../../dev/demo/send.ts";
import { eventually } from "./support/cluster/cluster.ts";
import { becomes, endProbe, startProbe } from "./support/cluster/probe.ts";
import { releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";
import { type Trial, trial } from "./support/trial.ts";

const firstMessageWithinMs = 300_000;
/** What an owner of endpoints did not see while stores were away it finds by its next walk, each 60 s (decision 0048). */
const afterOutageWithinMs = 120_000;
const stores = "app.kubernetes.io/component in (mongodb,nats,redis)";
const inRelease = ["--namespace", releaseName];

describe("Herald with the stores of its chart", function () {
  this.timeout(600_000); // every wait inside has a bound of its own
  let at: System;
  let installation: Trial;

  before(async function () {
    at = await system();
    installation = (await trial(at)) ?? this.skip();
  });

  it("delivers its first message within five minutes of helm install", async () => {
    const beganMs = performance.now();
    await installation.install();
    const installedMs = performance.now();
    await at.applySamples();
    const [person] = await at.people();
    const { rest } = await at.client();
    const { received, ...evidence } = await sendTo(person ?? expect.fail("nobody to write to"), rest, at.at);
    const endedMs = performance.now();
    const seconds = (ms: number) => (ms / 1000).toFixed(0);
    console.log(
      `      helm install: ${seconds(installedMs - beganMs)} s, to the first message delivered: ` +
        `${seconds(endedMs - beganMs)} s, with the images in the nodes`,
    );
    expect(evidence).to.include({ delivery: "sent", event: "delivery.sent", isVerified: true });
    expect(received).to.be.a("string");
    expect(endedMs - beganMs).to.be.below(firstMessageWithinMs);
  });

  it("lets nobody into a store without the password", async () => {
    const answers = await Promise.all([ask(at, "nats", 4222), ask(at, "redis", 6379)]);
    expect(answers).to.deep.equal(["-ERR 'Authorization Violation'", "-NOAUTH Authentication required."]);
  });

  it("lets none but its programs reach a store", async () => {
    const from = await startProbe(at.cluster, at.env, "elsewhere");
    const ports = { apiserver: 80, mongodb: 27_017, nats: 4222, redis: 6379 };
    for (const [what, port] of Object.entries(ports)) {
      const host = `${releaseName}-${what}.${releaseName}.svc`;
      await becomes(at.cluster, from, { host, port, what }, what === "apiserver");
    }
    await endProbe(at.cluster, from);
  });

  it("makes a file on the claim that the apiserver and the dispatcher share, and serves it", async () => {
    const { rest, appId } = await at.client();
    const lines = await exportSubscriptions(rest, appId);
    expect(lines).to.have.length.of.at.least(4); // the header, and one of each person
  });

  it("has what was stored after the pods of all stores were killed, and goes on", async () => {
    const sent = await sendOne(at);
    const before = await podIds(at);
    expect(before).to.have.length(3);
    // Not by force: Kubernetes would start the next before the last has ended, both on one volume.
    await at.cluster.kubectl(["delete", "pods", ...inRelease, "--selector", stores, "--grace-period=1"]);
    await storesReady(at, (ids) => ids.length === 3 && ids.every((id) => !before.includes(id)));
    await hasMessage(at, sent);
    await eventually("an apiserver that takes connections", 60_000, () =>
      sendOne(at, afterOutageWithinMs).catch(refusedConnection),
    );
  });

  it("keeps its password through an upgrade, which restarts no store", async () => {
    const before = [await passwordOf(at), ...(await podIds(at))];
    await at.release.upgrade("logLevel=debug");
    expect([await passwordOf(at), ...(await podIds(at))]).to.deep.equal(before);
    await sendOne(at);
  });

  it("leaves its data when it goes, and finds it when it is installed again, with the same password", async () => {
    const password = await passwordOf(at);
    const sent = await sendOne(at);
    await at.release.uninstall();
    const claims = await at.cluster.list(["persistentvolumeclaims", ...inRelease]);
    expect(claims.map(({ metadata, status }) => `${metadata.name} ${status.phase}`).toSorted()).to.deep.equal(
      ["data-herald-mongodb-0", "data-herald-nats-0", "data-herald-redis-0", "herald-files"].map(
        (name) => `${name} Bound`,
      ),
    );
    await installation.install();
    expect(await passwordOf(at)).to.equal(password);
    await hasMessage(at, sent);
    await sendOne(at);
  });
});

/** Sends a message by the simulated APNs, and waits until an event has said that it was sent; the message's id. */
const sendOne = async ({ client, people, inbox }: System, eventWithinMs = 60_000): Promise<string> => {
  const { rest } = await client();
  await people();
  const target = { include_external_ids: ["ada"], channels: ["ios_push"] };
  const { id } = await rest.post<CreateNotificationResult>("/v1/notifications", { target, contents: { en: "Hello" } });
  await inbox.delivered([id], eventWithinMs);
  return id ?? expect.fail("the message was not accepted");
};

/** Null where no apiserver was ready: a probe that failed while the stores were away counts until the next one. */
const refusedConnection = (error: unknown): null => {
  if (error instanceof TypeError && error.message === "fetch failed") return null;
  throw error;
};

const hasMessage = async ({ client }: System, id: string): Promise<void> => {
  const { rest } = await client();
  await eventually("the message in the database", 60_000, async () => {
    const found = await rest.get<{ status: string }>(`/v1/notifications/${id}`).catch(() => null); // not back yet
    return found?.status === "completed" ? true : null;
  });
};

/** What a store says to somebody in one of its clients' pods who shows no password. */
const ask = async ({ cluster, release }: System, store: string, port: number): Promise<string> => {
  const [pod] = await release.pods("apiserver");
  const script = `const s = require("node:net").connect(${port}, "${releaseName}-${store}");
    let said = ""; s.on("data", (d) => { said += d; if (/^-.*\\r\\n/m.test(said)) { console.log(/^-.*/m.exec(said)[0]); process.exit(); } });
    s.write("PING\\r\\n");
    setTimeout(() => process.exit(1), 10_000);`;
  return (
    await cluster.kubectl(["exec", ...inRelease, pod?.metadata.name ?? "", "--", "node", "--eval", script])
  ).trim();
};

const passwordOf = async ({ cluster }: System): Promise<string> =>
  (await cluster.get(["secret", "herald-bundled-stores", ...inRelease])).data?.["password"] ?? "";

const podIds = async ({ cluster }: System): Promise<string[]> =>
  (await cluster.list(["pods", ...inRelease, "--selector", stores])).map(({ metadata }) => metadata.uid);

const storesReady = async (at: System, areNew: (ids: string[]) => boolean): Promise<void> => {
  await eventually("new pods of the stores", 60_000, async () => (areNew(await podIds(at)) ? true : null));
  await at.cluster.kubectl(
    ["wait", "pods", ...inRelease, "--selector", stores, "--for=condition=Ready", "--timeout=120s"],
    {
      timeoutMs: 130_000,
    },
  );
};
