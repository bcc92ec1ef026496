import { expect } from "chai";
import { type Installation, installation, type Manifest } from "../integration/operator/support/harness.ts";
import { chartDir, runTool, valuesFiles } from "./support/helm.ts";

describe("a release of the chart", () => {
  let herald: Installation;
  let kubectl: (args: string[], input?: string) => Promise<string>;
  let helm: (verb: string, ...options: string[]) => Promise<string>;
  const namespace = "herald-release-test";
  const release = "kept";

  before(async () => {
    herald = await installation();
    const access = ["--kubeconfig", herald.servers.kubeconfig];
    kubectl = (args, input) => runTool("kubectl", [...access, "--namespace", namespace, ...args], input);
    helm = (verb, ...options) => runTool("helm", [verb, release, ...options, ...access, "--namespace", namespace]);
    await herald.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await wipe();
  });
  after(async () => {
    await wipe();
    await herald.close();
  });

  const wipe = async (): Promise<void> => {
    await helm("uninstall", "--ignore-not-found", "--no-hooks");
    await kubectl(["delete", "secrets,persistentvolumeclaims", "--all", "--wait=false"]);
    const claims = (await kubectl(["get", "persistentvolumeclaims", "--output", "name"])).split("\n").filter(Boolean);
    const released = ["--type", "merge", "--patch", '{"metadata": {"finalizers": null}}']; // no controller does it here
    for (const claim of claims) await kubectl(["patch", claim, ...released]);
  };
  /** Nothing runs Jobs here, and the test's own CRDs are there already. */
  const chart = (...options: string[]): string[] => {
    const values = ["--values", valuesFiles["throwaway"] ?? "", "--set", "crds.enabled=false"];
    return [chartDir, "--no-hooks", ...values, ...options];
  };
  const valueIn = async (secret: string, key: string): Promise<string> => {
    const metadata = { name: `${release}-herald-${secret}`, namespace };
    const found = await herald.get({ apiVersion: "v1", kind: "Secret", metadata } satisfies Manifest);
    return Buffer.from(found?.data?.[key] ?? expect.fail(`no ${key} in ${secret}`), "base64").toString();
  };
  const keys = (): Promise<string> => valueIn("key-ring", "key-ring");
  const password = (): Promise<string> => valueIn("bundled-stores", "password");

  it("makes the key ring once: neither upgrade nor rollback changes it", async () => {
    await helm("install", ...chart());
    const made = await keys();
    await helm("upgrade", ...chart("--set", "logLevel=debug"));
    expect(await keys()).to.equal(made);
    await helm("rollback", "1", "--no-hooks");
    expect(await keys()).to.equal(made);
  });

  it("makes the password of bundled stores once: addresses have it after upgrade and rollback, too", async () => {
    const made = await password();
    expect(made).to.match(/^[A-Za-z0-9]{32}$/);
    await helm("upgrade", ...chart("--set", "logLevel=debug"));
    await helm("rollback", "1", "--no-hooks");
    await helm("upgrade", ...chart());
    expect(await password()).to.equal(made);
    for (const store of ["mongodb", "nats", "redis"])
      expect(await valueIn("stores", `${store}-url`), store).to.include(`:${made}@`);
  });

  it("keeps every pod when autoscaling is switched on, and what the autoscaler has made of them ever after", async () => {
    const scaled = ["apiserver", "dispatcher"];
    const on = scaled.flatMap((program) => ["--set", `${program}.autoscaling.enabled=true`]);
    const replicas = async (): Promise<string[]> =>
      Promise.all(
        scaled.map((program) =>
          kubectl(["get", `deployment/${release}-herald-${program}`, "--output", "jsonpath={.spec.replicas}"]),
        ),
      );
    await helm("upgrade", ...chart("--set", "apiserver.replicas=3", "--set", "dispatcher.replicas=4"));
    await helm("upgrade", ...chart(...on));
    expect(await replicas()).to.deep.equal(["3", "4"]);
    for (const program of scaled) // through the subresource that a HorizontalPodAutoscaler uses
      await kubectl(["scale", `deployment/${release}-herald-${program}`, "--replicas=8"]);
    await helm("upgrade", ...chart(...on, "--set", "logLevel=debug"));
    expect(await replicas()).to.deep.equal(["8", "8"]);
    await helm("upgrade", ...chart("--set", "apiserver.replicas=3", "--set", "dispatcher.replicas=4"));
    expect(await replicas()).to.deep.equal(["3", "4"]);
  });

  for (const [secret, template] of [
    ["key-ring", "key-ring"],
    ["bundled-stores", "secret"],
  ] as const) {
    it(`is refused another Secret ${secret} by a tool that renders without asking the cluster`, async () => {
      const made = [await keys(), await password()];
      const text = await helm("template", ...chart(), "--show-only", `templates/stores/${template}.yaml`);
      const failure = await kubectl(["apply", "--server-side", "--force-conflicts", "--filename", "-"], text).catch(
        String,
      );
      expect(failure).to.include("immutable");
      expect([await keys(), await password()]).to.deep.equal(made);
    });
  }

  it("is rendered without asking the cluster with the password that values give", async () => {
    const given = [
      "--set",
      `bundledStores.password=${await password()}`,
      "--show-only",
      "templates/stores/secret.yaml",
    ];
    const text = await helm("template", ...chart(...given));
    await kubectl(["apply", "--server-side", "--force-conflicts", "--filename", "-"], text);
  });

  it("leaves the key ring, the bundled stores' password and the files' claim when it goes, and finds them again", async () => {
    await helm("upgrade", ...chart("--set", "files.bundled.enabled=true"));
    const made = [await keys(), await password()];
    await helm("uninstall", "--no-hooks");
    const kinds =
      "all,secrets,configmaps,persistentvolumeclaims,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets";
    const selector = ["--selector", `app.kubernetes.io/instance=${release}`, "--output", "name"];
    expect((await kubectl(["get", kinds, ...selector])).trim().split("\n")).to.have.members([
      `secret/${release}-herald-key-ring`,
      `secret/${release}-herald-bundled-stores`,
      `persistentvolumeclaim/${release}-herald-files`,
    ]);
    expect(await kubectl(["get", "clusterroles,clusterrolebindings", ...selector])).to.equal("");
    await helm("install", ...chart("--set", "files.bundled.enabled=true"));
    expect([await keys(), await password()]).to.deep.equal(made);
  });
});
