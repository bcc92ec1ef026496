import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { rootDir } from "../../dev/files/paths.ts";
import { type Installation, installation } from "../integration/operator/support/harness.ts";
import { manifests } from "../integration/operator/support/manifests.ts";
import { objectsIn, type Rendered, runTool, valuesFiles } from "./support/helm.ts";
import { kubeconfigOf } from "./support/kubeconfig.ts";

const execute = promisify(execFile);

describe("the Job that applies plans", () => {
  let herald: Installation;
  let dir: string;
  let kubectl: (args: string[], input?: string) => Promise<string>;
  const namespace = "herald-plans-test";

  before(async () => {
    herald = await installation();
    dir = await mkdtemp(join(tmpdir(), "plans-"));
    kubectl = (args, input) => runTool("kubectl", ["--kubeconfig", herald.servers.kubeconfig, ...args], input);
    await herald.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    const chart = ["template", "chart", "charts/herald", "--namespace", namespace];
    const objects = objectsIn(await runTool("helm", [...chart, "--values", valuesFiles["trial"] ?? ""]));
    const own = objects.filter(isJobs).map((object) => JSON.stringify(object));
    await kubectl(["apply", "--filename", "-"], own.join("\n---\n"));
    const token = (await kubectl(["create", "token", "chart-herald-plans", "--namespace", namespace])).trim();
    await writeFile(join(dir, "kubeconfig"), await kubeconfigOf(herald.servers.kubeconfig, { token }));
  });
  after(async () => {
    await kubectl(["delete", "clusterroles,clusterrolebindings", "--selector", "app.kubernetes.io/instance=chart"]);
    await kubectl(["delete", "plan", name(), "--ignore-not-found"]);
    await herald.close();
    await rm(dir, { recursive: true, force: true });
  });

  const name = (): string => `${herald.id}-plan`;

  /** Runs it, with the chart's permissions, over one plan. */
  const run = async (spec: object, labels: object = {}): Promise<string> => {
    const { metadata, ...plan } = manifests(herald).plan();
    const labelled = { ...metadata, labels: { ...metadata.labels, ...labels } };
    await writeFile(join(dir, "plan.json"), JSON.stringify({ ...plan, metadata: labelled, spec }));
    const env = { ...process.env, KUBECONFIG: join(dir, "kubeconfig") };
    const { stdout } = await execute(process.execPath, ["operator/plans/apply.ts", dir], { cwd: rootDir, env });
    return stdout;
  };
  const stored = async (): Promise<Record<string, unknown>> =>
    ((await herald.get(manifests(herald).plan()))?.spec ?? {}) as Record<string, unknown>;

  const spec = { title: "Free", apiRps: 20, webhookEndpoints: 1, retentionDays: 30, features: [], subscribers: 10 };

  it("makes a plan", async () => {
    expect(await run(spec)).to.include('"plan.applied"');
    expect(await stored()).to.include({ title: "Free", apiRps: 20, subscribers: 10 });
  });

  it("gives it the labels by which an operator finds it", async () => {
    await run(spec, { "herald.dev/installation": "eu" });
    const { metadata } = (await herald.get(manifests(herald).plan())) ?? expect.fail("no plan");
    expect(metadata.labels).to.include({ "herald.dev/installation": "eu" });
  });

  it("changes it with the next release, and takes away what is no longer said", async () => {
    const { subscribers: _, ...unlimited } = spec;
    await run({ ...unlimited, apiRps: 30 });
    expect(await stored()).to.include({ apiRps: 30 });
    expect(await stored()).not.to.have.property("subscribers");
  });

  it("leaves a plan alone that somebody else has changed", async () => {
    await kubectl(["patch", "plan", name(), "--type=merge", "--patch", '{"spec":{"apiRps":99}}']);
    expect(await run(spec))
      .to.include('"plan.left_alone"')
      .and.to.include('conflict with \\"kubectl-patch\\"') // who
      .and.to.include(".spec.apiRps"); // which member
    expect(await stored()).to.include({ apiRps: 99 });
  });

  it("fails when a plan says what no plan can", async () => {
    const failure = await run({ ...spec, apiRpm: 5 }).catch((error: unknown) => error);
    expect(failure).to.include({ code: 1 });
    expect((failure as { stdout: string }).stdout).to.include("apiRpm");
  });
});

const isJobs = ({ kind, metadata }: Rendered): boolean =>
  /Role|ServiceAccount/.test(kind) && metadata.labels["app.kubernetes.io/component"] === "plans";
