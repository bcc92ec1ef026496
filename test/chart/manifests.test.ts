import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { type KubeClient, kubeClient } from "#core/runtime/kube/client.ts";
import { connection } from "#core/runtime/kube/connection.ts";
import { rootDir } from "../../dev/files/paths.ts";
import { kindsOfOthers } from "../../dev/install/kinds-of-others.ts";
import { testServers } from "../support/servers/servers.ts";
import { until } from "../support/until.ts";
import { objectsIn, type Rendered, render, runTool, valuesFiles } from "./support/helm.ts";
import { isDescribed, writeSchemas } from "./support/schemas.ts";

const namespace = "herald-chart-test";

/** A rendered object of each kind of others that has rules, and what makes it wrong. */
const ofOthers = [
  {
    name: "keda",
    kind: "ScaledObject",
    right: '"failureThreshold":3',
    wrong: '"failureThreshold":"often"',
    why: "spec.fallback.failureThreshold",
  },
  {
    name: "gateway",
    kind: "HTTPRoute",
    right: '"value":"/v1"',
    wrong: '"value":"v1"',
    why: "value must be an absolute path",
  },
];

describe("the rendered chart", function () {
  this.timeout(300_000); // every wait inside has a bound of its own
  let dir: string;
  let client: KubeClient;
  let kubectl: (args: string[], input?: string) => Promise<string>;
  let schemas: string[];

  before(async () => {
    const { kubeconfig } = await testServers();
    client = kubeClient({ connection: connection({ KUBECONFIG: kubeconfig }) });
    kubectl = (args, input) => runTool("kubectl", ["--kubeconfig", kubeconfig, ...args], input);
    dir = await mkdtemp(join(tmpdir(), "chart-"));
    await establishKinds(client, kubectl);
    schemas = await writeSchemas(client, join(dir, "schemas"));
  });
  after(async () => {
    client.close();
    await rm(dir, { recursive: true, force: true });
  });

  const conform = async (text: string): Promise<string> => runTool("kubeconform", ["-strict", ...schemas, "-"], text);

  for (const [name, path] of Object.entries(valuesFiles)) {
    it(`holds what the API server's schemas say, for ${name}`, async () => {
      await conform(await render(path, namespace));
    });

    it(`is admitted by the API server, for ${name}`, async () => {
      const text = await render(path, namespace);
      const answer = await kubectl(["apply", "--dry-run=server", "--validate=strict", "--filename", "-"], text);
      expect(answer.trim().split("\n")).to.have.length(objectsIn(text).length);
    });

    it(`leaves kube-score nothing to find, for ${name}`, async () => {
      const own = objectsIn(await render(path, namespace)).filter(({ apiVersion }) => isBuiltIn(apiVersion));
      const text = own.map((object) => JSON.stringify(object)).join("\n---\n");
      const network = name === "without" ? ["--ignore-test", "pod-networkpolicy"] : []; // switched off by these values
      await runTool(
        "kube-score",
        ["score", "--exit-one-on-warning", "--kubernetes-version", "v1.36", ...network, "-"],
        text,
      );
    });

    it(`makes pods that a restricted namespace admits, for ${name}`, async () => {
      const pods = objectsIn(await render(path, namespace)).flatMap(podOf);
      expect(pods).to.have.length.of.at.least(4);
      await kubectl(
        ["create", "--dry-run=server", "--filename", "-"],
        pods.map((pod) => JSON.stringify(pod)).join("\n---\n"),
      );
    });
  }

  for (const { name, kind, right, wrong, why } of ofOthers) {
    it(`has its ${kind} taken by the kind that its project ships, and a wrong one refused`, async () => {
      const objects = objectsIn(await render(valuesFiles[name] ?? "", namespace));
      const made = objects.find((object) => object.kind === kind) ?? expect.fail(`no ${kind}`);
      const text = JSON.stringify(made);
      const write = ["--server-side", "--validate=strict", "--filename", "-"];
      await kubectl(["apply", ...write], text);
      expect(await kubectl(["get", "--output", "name", "--filename", "-"], text)).to.include(made.metadata.name);
      expect(text).to.include(right);
      const failure = await kubectl(["apply", ...write], text.replace(right, wrong)).catch(String);
      expect(failure).to.include(why);
      await kubectl(["delete", "--filename", "-"], text);
    });
  }

  it("is refused by these schemas when it holds a member that nobody knows", async () => {
    const text = (await render(valuesFiles["trial"] ?? "", namespace)).replace(
      "enableServiceLinks:",
      "enableServiceLink:",
    );
    const failure = await conform(text).catch((error: unknown) => error);
    expect(String(failure)).to.include("enableServiceLink");
  });

  it("is refused by these schemas when an alert says what the Prometheus operator does not know", async () => {
    const text = (await render(valuesFiles["monitoring"] ?? "", namespace)).replace("alert: ", "alarm: ");
    const failure = await conform(text).catch((error: unknown) => error);
    expect(String(failure)).to.include("alarm");
  });
});

const isBuiltIn = (apiVersion: string): boolean => !/^(keda|gateway|monitoring)/.test(apiVersion);

/** The kinds of others that the chart can use, and a namespace in which only restricted pods may run. */
const establishKinds = async (
  client: KubeClient,
  kubectl: (args: string[], input?: string) => Promise<string>,
): Promise<void> => {
  const folder = join(rootDir, "test/chart/crds");
  const paths = [...(await kindsOfOthers()), ...(await readdir(folder)).map((file) => join(folder, file))];
  await kubectl([
    "apply",
    "--server-side",
    "--force-conflicts",
    "--filename",
    join(rootDir, "crds"),
    ...paths.flatMap((path) => ["--filename", path]),
  ]);
  const files = await Promise.all(paths.map((path) => readFile(path, "utf8")));
  const kinds = files.flatMap((text) => parseAllDocuments(text).map((one) => one.toJS() as Definition));
  const names = kinds.map(({ metadata }) => `crd/${metadata.name}`);
  await kubectl(["wait", "--for=condition=Established", "--timeout=120s", ...names]);
  for (const { spec } of kinds)
    await until(() => isDescribed(client, { group: spec.group, kind: spec.names.kind }), 90_000);
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  const object = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } };
  await kubectl(["apply", "--filename", "-"], JSON.stringify(object));
};

type Definition = { metadata: { name: string }; spec: { group: string; names: { kind: string } } };
type Template = { spec: { volumes?: object[] } };
type Claim = { metadata: { name: string } };

/** The pod that a workload would make. */
const podOf = ({ kind, metadata, spec = {} }: Rendered): object[] => {
  if (!["Pod", "Deployment", "StatefulSet", "Job"].includes(kind)) return [];
  const template = (kind === "Pod" ? { spec } : spec["template"]) as Template; // what these kinds hold
  const claims = (spec["volumeClaimTemplates"] ?? []) as Claim[];
  const disks = claims.map((claim) => ({ name: claim.metadata.name, emptyDir: {} }));
  const volumes = [...(template.spec.volumes ?? []), ...disks];
  const podSpec = { ...template.spec, volumes, priorityClassName: undefined }; // the class is the cluster's to have
  return [{ apiVersion: "v1", kind: "Pod", metadata: { name: `${metadata.name}-0`, namespace }, spec: podSpec }];
};
