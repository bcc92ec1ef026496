import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import { type Kubectl, kubectlFor } from "../../../../dev/demo/kubectl.ts";
import { rootDir } from "../../../../dev/files/paths.ts";
import { type Installation, installation, label, type Manifest } from "../support/harness.ts";
import { apnsKey, serviceAccount, vapidKey } from "../support/manifests.ts";

type ExternalSecret = Manifest & {
  spec: { target: { name: string }; data: { secretKey: string; remoteRef: { key: string } }[] };
};

const folders = [
  "config/gitops/platform",
  "config/gitops/tenants/acme",
  "config/gitops/tenants/globex",
  "config/gitops/tenants/plain",
];
const documents = (text: string): Manifest[] => parseAllDocuments(text).map((one) => one.toJS() as Manifest);
const read = (path: string): string => readFileSync(join(rootDir, path), "utf8");
const samples = globSync("config/samples/*.yaml", { cwd: rootDir }).toSorted().map(read).flatMap(documents);
const isOurs = ({ apiVersion }: Manifest): boolean => apiVersion.startsWith("herald.dev/");

/** The Secret that the operator writes for a resource. */
const written = ({ metadata: { namespace = "" }, spec }: Manifest): Manifest[] => {
  const { connectionSecretName, secretName } = (spec ?? {}) as { connectionSecretName?: string; secretName?: string };
  const name = connectionSecretName ?? secretName;
  return name === undefined ? [] : [{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace } }];
};

/** As Argo CD with ServerSideApply=true, and Flux, hand objects to the API server. */
const asSynced = ["--server-side", "--force-conflicts", "--field-manager=argocd-controller", "-f", "-"];

describe("resources that are kept in git", () => {
  let herald: Installation;
  let kubectl: Kubectl;
  let repository: Manifest[];

  before(async () => {
    herald = await installation();
    kubectl = kubectlFor(herald.servers.kubeconfig);
    const built = await Promise.all(folders.map((folder) => kubectl(["kustomize", folder])));
    repository = built.flatMap(documents);
    for (const left of [...repository, ...samples].flatMap(written)) await herald.remove(left); // of a run that was cut off
    await herald.start({ settings: { allowedRanges: ["127.0.0.0/8"] } }); // the samples', as in the demo
  });
  after(() => herald.close());

  /** A list that only this installation looks at. */
  const own = (objects: readonly Manifest[]): string => {
    const labelled = objects.map((object) => {
      const labels = { ...object.metadata.labels, [label]: herald.id };
      return { ...object, metadata: { ...object.metadata, labels } };
    });
    return list(labelled);
  };
  const list = (items: readonly Manifest[]): string => JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const secret = (namespace: string, name: string, stringData: Record<string, string>): Manifest => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
    stringData,
  });
  const values: Record<string, () => string> = {
    private_key: apnsKey,
    smtp_password: () => "x",
    password: () => "x",
    token: () => "x",
    access_key_id: () => "x",
    secret_access_key: () => "x",
    "service_account.json": serviceAccount,
  };
  const valuesOf = (keys: readonly string[]): Record<string, string> =>
    Object.fromEntries(keys.map((key) => [key, values[key]?.() ?? expect.fail(`no value for ${key}`)]));

  /** What a sync does, and what the next one would change: what `kubectl diff` prints, which fails when there is anything. */
  const sync = async (objects: readonly Manifest[]): Promise<void> => {
    await kubectl(["apply", ...asSynced], own(objects));
    for (const object of objects.filter(isOurs)) await herald.ready(object);
    expect(await kubectl(["diff", ...asSynced], own(objects))).to.equal("");
  };

  it("hold no secret", () => {
    expect(repository.filter(({ kind }) => kind === "Secret")).to.deep.equal([]);
    const external = repository.filter(({ kind }) => kind === "ExternalSecret") as ExternalSecret[]; // by their kind
    expect(JSON.stringify(external)).not.to.include("TENANT"); // every overlay has said whose it is
    expect(external).to.have.length.above(2);
  });

  it("need no other operator where a tenant's Secrets are made by hand", async () => {
    const plain = documents(await kubectl(["kustomize", "config/gitops/tenants/plain"]));
    expect(plain.filter((one) => !isOurs(one)).map(({ kind }) => kind)).to.deep.equal(["Namespace"]);
  });

  it("become Ready as the example repository has them, in Argo CD's order, and a second sync changes nothing", async () => {
    const external = repository.filter(({ kind }) => kind === "ExternalSecret") as ExternalSecret[];
    const given = external.map(({ metadata, spec }) =>
      secret(metadata.namespace ?? "", spec.target.name, valuesOf(spec.data.map(({ secretKey }) => secretKey))),
    );
    const byHand = secret("plain", "shop-email", valuesOf(["password"])); // as docs/gitops.md has it
    const applied = repository.filter(({ kind }) => kind !== "ExternalSecret");
    const [ours, others] = [applied.filter(isOurs), applied.filter((one) => !isOurs(one))];
    const byName = ours.toSorted((one, other) => one.metadata.name.localeCompare(other.metadata.name));
    const first = (wanted: string): number => byName.findIndex(({ kind }) => kind === wanted);
    expect(first("ApiKey"), "keys come before their apps").to.be.lessThan(first("App"));
    await sync([...others, ...given, byHand, ...byName]); // within a wave: gitops-engine 0.7, pkg/sync/sync_tasks.go
    expect(new Set(applied.filter(isOurs).map(({ kind }) => kind))).to.have.keys(
      ...allResources.map(({ kind }) => kind),
    );
  });

  it("become Ready as the samples have them, and a second sync changes nothing", async () => {
    const namespace = "herald-demo";
    await kubectl(["apply", ...asSynced], own(samples.filter(({ kind }) => kind === "Namespace")));
    await sync([
      secret(namespace, "shop-ios", valuesOf(["private_key"])),
      secret(namespace, "shop-android", valuesOf(["service_account.json"])),
      secret(namespace, "shop-huawei", { client_secret: "x" }),
      secret(namespace, "shop-web", { private_key: vapidKey() }),
      secret(namespace, "shop-email", valuesOf(["password"])),
      secret(namespace, "shop-sms", { auth_token: "x" }),
      secret(namespace, "shop-rcs", { auth_token: "x" }),
      secret(namespace, "shop-whatsapp", { access_token: "x", app_secret: "x", verify_token: "x" }),
      secret(namespace, "shop-chat", valuesOf(["token"])),
      secret(namespace, "shop-lake", valuesOf(["access_key_id", "secret_access_key"])),
      ...samples,
    ]);
  });

  it("go when they are no longer in git, whatever the order", async () => {
    const gone = [...repository, ...samples].filter(isOurs);
    for (const object of gone) await herald.remove(object);
    for (const object of gone) await herald.gone(object);
    for (const secret of gone.flatMap(written)) expect(await herald.get(secret)).to.equal(null);
  });

  it("leave the kinds' definitions as they are too", async () => {
    const definitions = globSync("crds/*.yaml", { cwd: rootDir }).map(read).flatMap(documents);
    await kubectl(["apply", ...asSynced], list(definitions));
    expect(await kubectl(["diff", ...asSynced], list(definitions))).to.equal("");
  });

  it("would be seen to differ, if they did", async () => {
    const plan = repository.find(({ kind }) => kind === "Plan") ?? expect.fail("no plan");
    await kubectl(["apply", ...asSynced], own([plan]));
    const changed = { ...plan, spec: { ...plan.spec, apiRps: 1 } };
    const failure = await kubectl(["diff", ...asSynced], own([changed])).then(String, String);
    expect(failure).to.include("kubectl diff").and.to.include("ended with 1");
  });
});

describe("examples for Argo CD and Flux", () => {
  const argo = globSync("deploy/argocd/application*.yaml", { cwd: rootDir }).map(read);
  const flux = globSync("deploy/flux/*.yaml", { cwd: rootDir }).map(read);

  it("point to folders that there are", () => {
    const paths = [...argo, ...flux].flatMap((text) =>
      [...text.matchAll(/(?:path|chart): \.?\/?((?:config|charts)\/[\w/*-]+)/g)].map(([, path = ""]) => path),
    );
    expect(paths).to.have.length.above(5);
    for (const path of paths) expect(globSync(path, { cwd: rootDir }), path).not.to.deep.equal([]);
  });

  it("have Flux wait for every kind", () => {
    const kustomizations = flux.flatMap(documents).filter(({ kind }) => kind === "Kustomization");
    const judged = kustomizations.flatMap(({ spec }) => (spec as FluxKustomization).healthCheckExprs);
    expect(new Set(judged.map(({ kind }) => kind))).to.have.keys(...allResources.map(({ kind }) => kind));
  });

  it("agree on what may come by itself", () => {
    const lua = /comesByItself = \{ (.*) \}/.exec(read("deploy/argocd/health/herald.lua"))?.[1] ?? "";
    const reasons = [...lua.matchAll(/(\w+) = true/g)].map(([, reason = ""]) => `'${reason}'`).join(", ");
    const kustomizations = flux.flatMap(documents).filter(({ kind }) => kind === "Kustomization");
    for (const { failed } of kustomizations.flatMap(({ spec }) => (spec as FluxKustomization).healthCheckExprs))
      expect(failed).to.include(`c.reason in [${reasons}]`);
  });

  it("have Flux go by conditions of the newest generation only", () => {
    const kustomizations = flux.flatMap(documents).filter(({ kind }) => kind === "Kustomization");
    for (const { current, failed } of kustomizations.flatMap(
      ({ spec }) => (spec as FluxKustomization).healthCheckExprs,
    ))
      for (const expression of [current, failed])
        expect(expression).to.include("c.observedGeneration == metadata.generation");
  });
});

type FluxKustomization = { healthCheckExprs: { kind: string; current: string; failed: string }[] };
