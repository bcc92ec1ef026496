import { expect } from "chai";
import { type Installation, installation, type Manifest } from "../integration/operator/support/harness.ts";
import { chartDir, runTool, valuesFiles } from "./support/helm.ts";

describe("a release of the chart", function () {
  this.timeout(120_000);
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
    await kubectl(["delete", "secret", "--all"]);
  };
  /** Nothing runs Jobs here, and the test's own CRDs are there already. */
  const chart = (...options: string[]): string[] => {
    const values = ["--values", valuesFiles["throwaway"] ?? "", "--set", "crds.enabled=false"];
    return [chartDir, "--no-hooks", ...values, ...options];
  };
  const keyRing: Manifest = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `${release}-herald-key-ring`, namespace },
  };
  const keys = async (): Promise<string> =>
    (await herald.get(keyRing))?.data?.["key-ring"] ?? expect.fail("no key ring");

  it("makes the key ring once: neither upgrade nor rollback changes it", async () => {
    await helm("install", ...chart());
    const made = await keys();
    await helm("upgrade", ...chart("--set", "logLevel=debug"));
    expect(await keys()).to.equal(made);
    await helm("rollback", "1", "--no-hooks");
    expect(await keys()).to.equal(made);
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

  it("is refused another key ring by a tool that renders without asking the cluster", async () => {
    const made = await keys();
    const text = await helm("template", ...chart(), "--show-only", "templates/stores/key-ring.yaml");
    const failure = await kubectl(["apply", "--server-side", "--force-conflicts", "--filename", "-"], text).catch(
      String,
    );
    expect(failure).to.include("immutable");
    expect(await keys()).to.equal(made);
  });

  it("leaves the key ring and nothing else when it goes, and finds it again", async () => {
    const made = await keys();
    await helm("uninstall", "--no-hooks");
    const kinds = "all,secrets,configmaps,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets";
    const selector = ["--selector", `app.kubernetes.io/instance=${release}`, "--output", "name"];
    expect((await kubectl(["get", kinds, ...selector])).trim()).to.equal(`secret/${release}-herald-key-ring`);
    expect(await kubectl(["get", "clusterroles,clusterrolebindings", ...selector])).to.equal("");
    await helm("install", ...chart());
    expect(await keys()).to.equal(made);
  });
});
