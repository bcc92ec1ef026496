import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { stringify } from "yaml";
import { rootDir } from "../../dev/files/paths.ts";
import { chartDir, objectsIn, type Rendered, render, runTool } from "./support/helm.ts";

type Application = {
  source: { helm: { valuesObject: object } };
  destination: { namespace: string };
  ignoreDifferences: { group: string; kind: string; name: string; jsonPointers: string[] }[];
  syncPolicy: { syncOptions: string[] };
};
type HelmRelease = { releaseName: string; targetNamespace: string; storageNamespace: string; values: object };

const read = (path: string): Rendered[] => objectsIn(readFileSync(join(rootDir, "deploy", path), "utf8"));
const specOf = (objects: Rendered[], kind: string): unknown =>
  objects.find((object) => object.kind === kind)?.spec ?? expect.fail(`no ${kind}`);

describe("the examples for Argo CD and Flux", () => {
  const application = specOf(read("argocd/application.yaml"), "Application") as Application; // the tools' own shapes
  const release = specOf(read("flux/herald.yaml"), "HelmRelease") as HelmRelease;

  const rendered = async (values: object, namespace: string): Promise<string> => {
    const dir = await mkdtemp(join(tmpdir(), "gitops-"));
    const file = join(dir, "values.yaml");
    await writeFile(file, stringify(values));
    return render(file, namespace).finally(() => rm(dir, { recursive: true }));
  };
  /** Images of the pods that the chart makes of an example's values. */
  const imagesOf = async (values: object, namespace: string): Promise<string[]> =>
    [...(await rendered(values, namespace)).matchAll(/^ +image: (.+)$/gm)].map(([, image = ""]) => image);

  it("give values that the chart takes, with an image that says where it comes from", async () => {
    for (const [values, namespace] of [
      [application.source.helm.valuesObject, application.destination.namespace],
      [release.values, release.targetNamespace],
    ] as const) {
      const images = await imagesOf(values, namespace);
      expect(images).to.have.length.of.at.least(4);
      expect(images.filter((image) => !image.startsWith("registry.example.com/platform/herald:"))).to.deep.equal([]);
    }
  });

  it("call Flux's release as the pages do, in a namespace that git makes", () => {
    expect(release).to.include({ releaseName: "herald", targetNamespace: "herald", storageNamespace: "herald" });
    const namespaces = read("flux/herald.yaml").filter(({ kind }) => kind === "Namespace");
    expect(namespaces.map(({ metadata }) => metadata.name)).to.deep.equal(["herald"]);
  });

  /** Names of the Deployments whose number of pods an autoscaler decides, by the values of an example. */
  const autoscaledBy = async (values: object): Promise<string[]> => {
    const scalers = objectsIn(await rendered(values, "herald")).filter(
      ({ kind }) => kind === "HorizontalPodAutoscaler",
    );
    return scalers.map(({ spec = {} }) => (spec["scaleTargetRef"] as { name: string }).name).toSorted(); // Kubernetes' shape
  };
  const ignoredBy = ({ ignoreDifferences = [] }: Partial<Application>): string[] =>
    ignoreDifferences.map(({ name }) => name).toSorted();

  it("have Argo CD leave the number of pods to autoscalers exactly where there are some, at a sync too", async () => {
    expect(ignoredBy(application)).to.deep.equal(await autoscaledBy(application.source.helm.valuesObject));
    const patch = specOf(read("argocd/application-autoscaling.yaml"), "Application") as Application; // Argo CD's shape
    const scaled = ignoredBy(patch);
    expect(scaled).to.have.length(2);
    const values = { ...application.source.helm.valuesObject, ...patch.source.helm.valuesObject };
    expect(scaled).to.deep.equal(await autoscaledBy(values));
    expect(patch.ignoreDifferences.map(({ jsonPointers }) => jsonPointers)).to.deep.equal(
      scaled.map(() => ["/spec/replicas"]),
    );
    const options = [...application.syncPolicy.syncOptions, "RespectIgnoreDifferences=true"];
    expect(patch.syncPolicy.syncOptions).to.deep.equal(options);
  });

  it("can try Herald with the chart's stores: with a password and a key ring of theirs nothing differs at the next sync", async () => {
    const own = ["--set", "bundledStores.password=aT7tryOut", "--set", "keyRing.existingSecret=herald-key-ring"];
    const files = ["--values", join(chartDir, "values-trial.yaml")];
    const sync = () => runTool("helm", ["template", "herald", chartDir, "--namespace", "herald", ...files, ...own]);
    const first = await sync();
    expect(objectsIn(first).filter(({ kind }) => kind === "StatefulSet")).to.have.length(3);
    expect(await sync()).to.equal(first);
  });

  it("have Flux try again soon what waited for something", () => {
    const waits = read("flux/tenants.yaml").map(({ spec }) => spec?.["retryInterval"]);
    expect(waits).to.deep.equal(["30s", "30s"]);
  });
});
