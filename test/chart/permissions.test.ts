import { readdirSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { rootDir } from "../../dev/files/paths.ts";
import type { Settings } from "../../operator/parts.ts";
import { type Installation, installation, type Manifest } from "../integration/operator/support/harness.ts";
import { apnsKey, manifests, serviceAccount, vapidKey } from "../integration/operator/support/manifests.ts";
import { until } from "../support/until.ts";
import { objectsIn, type Rendered, runTool, valuesFiles } from "./support/helm.ts";
import { kubeconfigOf } from "./support/kubeconfig.ts";
import { type Recorder, recorderBefore } from "./support/recorder.ts";

const samples = readdirSync(join(rootDir, "config/samples"))
  .filter((file) => file.endsWith(".yaml"))
  .toSorted()
  .flatMap((file) => parseAllDocuments(readFileSync(join(rootDir, "config/samples", file), "utf8")))
  .map((document) => document.toJS() as Manifest);
const resources = samples.filter(({ apiVersion }) => apiVersion.startsWith("herald.dev/"));

const credentials: Record<string, () => Record<string, string>> = {
  "shop-ios": () => ({ private_key: apnsKey() }),
  "shop-android": () => ({ "service_account.json": serviceAccount() }),
  "shop-huawei": () => ({ client_secret: "x" }),
  "shop-web": () => ({ private_key: vapidKey() }),
  "shop-email": () => ({ password: "x" }),
  "shop-sms": () => ({ auth_token: "x" }),
  "shop-rcs": () => ({ auth_token: "x" }),
  "shop-whatsapp": () => ({ access_token: "x", app_secret: "x", verify_token: "x" }),
  "shop-chat": () => ({ token: "x" }),
  "shop-lake": () => ({ access_key_id: "x", secret_access_key: "x" }),
};

/** How far an operator may look: the chart's value, and its own settings. */
type Reach = { namespaces: { name: string; secrets?: string[] }[]; settings: Partial<Settings> };

const tenantNamespace = "herald-demo";
const written = ["shop-backend", "kept", "shop-events-signing", "shop-large-orders-signing"];
const secrets = [...Object.keys(credentials), ...written];
const reaches: Record<string, Reach> = {
  "in the whole cluster": { namespaces: [], settings: {} },
  "in one namespace": { namespaces: [{ name: tenantNamespace }], settings: { watchNamespaces: [tenantNamespace] } },
  "to the Secrets that resources name": {
    namespaces: [{ name: tenantNamespace, secrets }],
    settings: { watchNamespaces: [tenantNamespace], watchSecrets: secrets.map((name) => `${tenantNamespace}/${name}`) },
  },
};

for (const [title, reach] of Object.entries(reaches))
  describe(`the permissions that the chart gives the operator ${title}`, function () {
    this.timeout(300_000); // every wait inside has a bound of its own
    let herald: Installation;
    let recorder: Recorder;
    let granted: string[];
    let kubeconfig: string;
    let kubectl: (args: string[], input?: string) => Promise<string>;
    const namespace = "herald-permissions";
    const account = "chart-herald-operator";

    before(async () => {
      herald = await installation();
      kubectl = (args, input) => runTool("kubectl", ["--kubeconfig", herald.servers.kubeconfig, ...args], input);
      await herald.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
      await herald.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: tenantNamespace } });
      const objects = (await rendered()).filter((object) => isOperators(object));
      await kubectl(["apply", "--filename", "-"], objects.map((object) => JSON.stringify(object)).join("\n---\n"));
      granted = objects.flatMap(({ rules = [] }) => rules.flatMap(permissions));
      recorder = await recorderBefore(herald.servers.kubeconfig);
      const token = await kubectl(["create", "token", account, "--namespace", namespace]);
      kubeconfig = join(tmpdir(), `herald-permissions-${process.pid}.yaml`);
      const content = await kubeconfigOf(herald.servers.kubeconfig, { token: token.trim(), server: recorder.url });
      await writeFile(kubeconfig, content, { mode: 0o600 });
      await live();
    });
    after(async () => {
      const ours = ["--selector", "app.kubernetes.io/instance=chart"];
      await kubectl(["delete", "clusterroles,clusterrolebindings", ...ours]);
      await kubectl(["delete", "roles,rolebindings", "--all-namespaces", ...ours]);
      await herald.close();
      recorder.close();
      await rm(kubeconfig, { force: true });
    });

    /** Everything that an operator does: it leads and stands by, and resources come, change, fail, recover and go. */
    const live = async (): Promise<void> => {
      const { secret, apiKey } = manifests(herald, tenantNamespace);
      const settings = {
        ...reach.settings,
        leaseNamespace: namespace,
        leaseName: account,
        allowedRanges: ["127.0.0.0/8"],
        resyncSeconds: 2,
      };
      for (const name of written) await herald.remove(secret(name, {})); // of a run that was cut off
      await kubectl(["delete", "lease", account, "--namespace", namespace, "--ignore-not-found"]);
      await herald.start({ kubeconfig, settings });
      await herald.start({ kubeconfig, settings });
      for (const sample of samples) await herald.apply(sample);
      for (const [name, values] of Object.entries(credentials)) await herald.apply(secret(name, values()));
      for (const resource of resources) await herald.ready(resource);

      const app = resources.find(({ kind }) => kind === "App") ?? expect.fail("no App among the samples");
      await until(async () => {
        await herald.remove(secret("shop-ios", {}));
        await herald.ready(app, "False");
        await herald.apply(secret("shop-ios", credentials["shop-ios"]?.() ?? {}));
        await herald.ready(app);
        return asked().has("patch events"); // an event that came before is counted, unless another operator leads since
      });

      const key = apiKey({ connectionSecretName: "kept", deletionPolicy: "Retain" }, "kept");
      await herald.apply(key);
      await herald.ready(key);
      const before = (await herald.get(secret("kept", {})))?.data?.["token"];
      await herald.patch(key, { metadata: { annotations: { "herald.dev/rotate": "1" } } });
      await until(async () => (await herald.get(secret("kept", {})))?.data?.["token"] !== before);
      await herald.ready(key);
      const stored = JSON.stringify({ status: { storedVersions: ["v1alpha1", "v1beta1"] } });
      await until(async () => {
        // another test's operator may be first
        await kubectl(["patch", "crd", "plans.herald.dev", "--subresource=status", "--type=merge", "--patch", stored]);
        return asked().has("patch apiextensions.k8s.io/customresourcedefinitions/status");
      });
      for (const resource of [key, ...resources.toReversed()]) await herald.remove(resource);
      for (const resource of [key, ...resources]) await herald.gone(resource);
      await herald.remove(secret("kept", {}));
    };

    const asked = (): Set<string> => new Set(recorder.uses().map(({ verb, resource }) => `${verb} ${resource}`));

    it("are enough: nothing is forbidden", () => {
      expect(recorder.uses().filter(({ status }) => status === 401 || status === 403)).to.deep.equal([]);
    });

    it("are all needed: nothing is granted that is not used, and nothing used that is granted by others", () => {
      expect([...asked()].toSorted()).to.deep.equal([...new Set(granted)].toSorted());
    });

    it("name no wildcard, and none of the cluster's own kinds but Secrets, ConfigMaps and Events", async () => {
      const all = objectsIn(await render()).flatMap(({ rules = [] }) => rules);
      const words = all.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs]);
      expect(words).not.to.include("*");
      const core = all.flatMap(({ apiGroups, resources }) => (apiGroups.includes("") ? resources : []));
      expect(new Set(core)).to.deep.equal(new Set(["secrets", "configmaps", "events"]));
    });

    const render = (): Promise<string> =>
      runTool("helm", [
        "template",
        "chart",
        "charts/herald",
        "--namespace",
        namespace,
        "--values",
        valuesFiles["trial"] ?? "",
        "--set-json",
        `operator.rbac.namespaces=${JSON.stringify(reach.namespaces)}`,
      ]);
    const rendered = async (): Promise<Rendered[]> => objectsIn(await render());
  });

const isOperators = ({ kind, metadata }: Rendered): boolean =>
  /Role|ServiceAccount/.test(kind) && metadata.labels["app.kubernetes.io/component"] === "operator";

const permissions = ({ apiGroups, resources, verbs }: NonNullable<Rendered["rules"]>[number]): string[] =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group === "" ? resource : `${group}/${resource}`}`)),
  );
