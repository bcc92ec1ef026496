import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { bundlePlugin } from "../../../dev/bundle/kubectl-plugin.ts";
import { bin } from "../../../dev/files/paths.ts";
import { command } from "../../../dev/processes/run-command.ts";
import { ran } from "../../unit/kubectl/ran.ts";
import { type Installation, installation, type Manifest } from "../operator/support/harness.ts";
import { manifests } from "../operator/support/manifests.ts";
import { type Kubeconfigs, kubeconfigsIn } from "./support/kubeconfigs.ts";

type Document = {
  ready: boolean;
  firstCause: { kind: string; name: string; reason: string } | null;
  notReady: { kind: string; name: string }[];
  resources: { kind: string; name: string; children: { kind: string; name: string }[] }[];
};

describe("kubectl herald status, on a real API server", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let dir: string;
  let namespace: string;
  let kubeconfigs: Kubeconfigs;
  const status = async (args: string[], kubeconfig = herald.servers.kubeconfig) => {
    const { code, out, err } = await ran(["status", ...args, "-o", "json"], { env: { KUBECONFIG: kubeconfig } });
    return { code, err, document: JSON.parse(out) as Document };
  };

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "herald-kubectl-"));
    herald = await installation();
    kubeconfigs = kubeconfigsIn(dir, herald);
    make = manifests(herald);
    namespace = make.namespace.metadata.name;
    await herald.start();
    const { plan, tenant, app, apiKey, webhook, secret } = make;
    const objects: Manifest[] = [
      make.namespace,
      plan(),
      tenant(),
      secret("ios", { private_key: "no key" }),
      app(),
      apiKey(),
      webhook({ appRef: "nobody" }),
    ];
    for (const object of objects) await herald.apply(object);
    await herald.ready(webhook({ appRef: "nobody" }), "False", "AppNotFound");
    await herald.ready(tenant());
  });
  after(async () => {
    await herald?.close();
    await rm(dir, { recursive: true, force: true });
  });

  it("shows what belongs to the tenant of a namespace, and what is first to be mended", async () => {
    const { code, err, document } = await status(["-n", namespace]);
    expect({ code, err }).to.deep.equal({ code: 1, err: "" });
    const tenant = document.resources.find(({ kind }) => kind === "Tenant");
    expect(tenant?.name).to.equal(`${herald.id}-tenant`);
    expect(tenant?.children.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal(["App shop", "Webhook events"]);
    expect(document.firstCause).to.include({ kind: "App", name: "shop" });
    expect(document.notReady.map(({ kind }) => kind)).to.include.members(["App", "Webhook"]);
  });

  it("waits until everything is Ready", async () => {
    await herald.remove(make.webhook());
    await herald.gone(make.webhook());
    await herald.remove(make.app());
    await herald.gone(make.app());
    const waiting = ran(["status", "-n", namespace, "--wait", "--timeout", "60s"], {
      env: { KUBECONFIG: herald.servers.kubeconfig },
    });
    await herald.apply(make.app({ channels: {} }));
    const { code, out } = await waiting;
    expect(code, out).to.equal(0);
    expect(out).to.match(/All \d+ are Ready\.\n$/);
  });

  it("shows a person what they may see, and says what is left out", async () => {
    const kubeconfig = await kubeconfigs.of(namespace, "viewer", [
      { apiGroups: ["herald.dev"], resources: ["apps", "webhooks"], verbs: ["list"] },
    ]);
    const { err, document } = await status(["-n", namespace], kubeconfig);
    expect(err)
      .to.contain("You may not list Tenants: they are left out.")
      .and.to.contain(`You may not list ApiKeys in ${namespace}`);
    expect(document.resources.map(({ kind, children }) => [kind, children.map((child) => child.name)])).to.deep.equal([
      ["Namespace", ["shop"]],
    ]);
  });

  it("says that nothing is there, and that a cluster does not answer", async () => {
    const env = { KUBECONFIG: herald.servers.kubeconfig };
    expect(await ran(["status", "nobody", "-n", namespace], { env })).to.include({
      code: 1,
      out: `There is no App nobody in the namespace ${namespace}.\n`,
    });
    const away = await kubeconfigs.withUser({ token: "none" }, "away", { server: "https://127.0.0.1:1" });
    const { code, err } = await ran(["status"], { env: { KUBECONFIG: away } });
    expect(code).to.equal(3);
    expect(err).to.contain("no answer");
  });

  it("runs as a plugin of the real kubectl, from one file", async () => {
    const folder = join(dir, "bin");
    await bundlePlugin(folder);
    const env = { KUBECONFIG: herald.servers.kubeconfig, PATH: `${folder}:${join(process.execPath, "..")}` };
    const out = await command([bin("kubectl"), "herald", "status", "-n", namespace, "--wait"], { env });
    expect(out).to.contain(`App ${namespace}/shop`);
  });
});
