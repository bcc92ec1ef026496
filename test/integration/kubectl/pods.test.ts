import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { strFromU8, unzipSync } from "fflate";
import { testCredentials } from "../../support/system/credentials.ts";
import { post, seedDevices } from "../../support/system/sending.ts";
import { type System, type SystemProgram, startSystem } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { ran } from "../../unit/kubectl/ran.ts";
import { type Installation, installation } from "../operator/support/harness.ts";
import { manifests } from "../operator/support/manifests.ts";
import { clusterNetwork } from "./support/cluster-network.ts";
import { kubeconfigsIn } from "./support/kubeconfigs.ts";
import { givePod } from "./support/pods.ts";

describe("kubectl herald and a dispatcher whose provider is away, by a real API server", () => {
  let herald: Installation;
  let system: System;
  let dispatcher: SystemProgram;
  let network: { close: () => Promise<void> };
  let dir: string;
  let namespace: string;
  let pod: string;
  const kubectl = (args: string[], kubeconfig = herald.servers.kubeconfig) =>
    ran(args, { env: { KUBECONFIG: kubeconfig } });

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "herald-kubectl-"));
    herald = await installation();
    const make = manifests(herald);
    namespace = make.namespace.metadata.name;
    await herald.apply(make.namespace);
    const nowhere = { url: "https://127.0.0.1:9", credentials: testCredentials() };
    system = await startSystem({ ...herald.servers, apns: nowhere });
    const apiserver = await system.start("apiserver");
    dispatcher = await system.start("dispatcher");
    network = await clusterNetwork(herald.servers.kubeconfig, dispatcher.healthUrl);
    pod = `${herald.id}-dispatcher`;
    const labels = { "app.kubernetes.io/part-of": "herald", "app.kubernetes.io/component": "dispatcher" };
    await givePod(herald, namespace, { name: pod, ip: "10.20.30.41", labels });
    const devices = await seedDevices(system, 30); // more than may fail in a row
    await post(system, apiserver, { target: { include_subscription_ids: devices.map(({ _id }) => _id) } });
  });
  after(async () => {
    const path = `/api/v1/namespaces/${namespace}/pods/${pod}`;
    await herald?.client.call({ method: "DELETE", path }, AbortSignal.timeout(60_000)).catch(() => undefined);
    await network?.close();
    await system?.stop();
    await herald?.close();
    await rm(dir, { recursive: true, force: true });
  });

  it("shows the accounts that are cut off", async () => {
    const open = async (): Promise<object[]> => {
      const { out } = await kubectl(["top", "-A", "-o", "json"]);
      const { breakers } = JSON.parse(out) as { breakers: { dispatcher: string }[] };
      return breakers.filter((one) => one.dispatcher === pod);
    };
    await until(async () => (await open()).length > 0);
    expect(await open()).to.deep.equal([{ dispatcher: pod, channel: "ios_push", accounts: 1 }]);
    const { code, out } = await kubectl(["top", "-A", "--limit", "100"]);
    expect(code).to.equal(0);
    expect(out).to.match(new RegExp(`^${pod} +ios_push +1$`, "m"));
  });

  it("puts what programs measure into a report", async () => {
    const file = join(dir, "report.zip");
    const { code, out } = await kubectl(["report", "-n", namespace, file]);
    expect(code, out).to.equal(0);
    const metrics = unzipSync(await readFile(file))[`metrics/${pod}.txt`] ?? new Uint8Array();
    expect(strFromU8(metrics)).to.match(/^herald_open_breakers\{.*channel="ios_push".*\} 1$/m);
  });

  it("says what is left out for somebody who may list pods, and read none", async () => {
    const pods = { apiGroups: [""], resources: ["pods"], verbs: ["list"] };
    const kubeconfig = await kubeconfigsIn(dir, herald).of(namespace, "viewer", [pods]);
    const { err } = await kubectl(["top", "-n", namespace], kubeconfig);
    expect(err).to.include("Accounts that are cut off are left out: you may not");
  });
});
