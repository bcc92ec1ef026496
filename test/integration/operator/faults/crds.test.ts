import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { sharedStreams } from "#core/queue/jetstream/topology.ts";
import { hasStatus } from "#core/runtime/kube/errors.ts";
import { kubectlFor } from "../../../../dev/demo/kubectl.ts";
import { rootDir, testDir } from "../../../../dev/files/paths.ts";
import { freePorts } from "../../../../dev/processes/free-ports.ts";
import { type Kubernetes, startKubernetes } from "../../../../dev/servers/kubernetes.ts";
import { testPartitioning } from "../../../support/rows/partitioning.ts";
import { testTiming } from "../../../support/suite/soak.ts";
import { until } from "../../../support/until.ts";
import { differences } from "../support/audit.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { ios, manifests } from "../support/manifests.ts";
import { snapshotOf } from "../support/snapshot.ts";

/** The CRDs as a release before had them: without a rule or a bound, and without the members that came later. */
const formerOf = (crd: Manifest): Manifest => without(crd, [...rules, "managementPolicy", "externalName"]) as Manifest; // keys only go
const rules = [
  "x-kubernetes-validations",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "enum",
  "maxItems",
  "minItems",
];

const without = (value: unknown, keys: readonly string[]): unknown => {
  if (Array.isArray(value)) return value.map((item) => without(item, keys));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !keys.includes(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, without(inner, keys)]));
};

describe("operator: custom resource definitions of a former release", () => {
  let kubernetes: Kubernetes;
  let dir: string;
  let crds: Manifest[];
  let herald: Installation;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "crds-"));
    const [port = 0, etcdPort = 0, etcdPeerPort = 0] = await freePorts(3);
    kubernetes = await startKubernetes({ dir, throwaway: true, port, etcdPort, etcdPeerPort }); // others share the other one's
    const files = await readdir(join(rootDir, "crds"));
    crds = await Promise.all(
      files.map(async (file) => parse(await readFile(join(rootDir, "crds", file), "utf8")) as Manifest),
    );
  });
  after(async () => {
    await kubernetes?.kill();
    await rm(dir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    herald = await installation({ kubeconfig: kubernetes.kubeconfig });
    make = manifests(herald);
    await herald.apply(make.namespace);
  });
  afterEach(() => herald.close());

  const plan = (name: string, spec: object = {}) => make.plan(spec, `${herald.id}-${name}`);
  /** Null: nobody knows. Until a CRD that has changed is in force, its objects' requests are answered 503. */
  const isTaken = (object: Manifest): Promise<boolean | null> =>
    herald.apply(object).then(
      () => true,
      (error: unknown) => {
        if (hasStatus(error, 422)) return false;
        if (hasStatus(error, 503)) return null;
        throw error;
      },
    );
  const isRemoved = (object: Manifest): Promise<boolean> =>
    herald.remove(object).then(
      () => true,
      (error: unknown) => {
        if (hasStatus(error, 503)) return false;
        throw error;
      },
    );
  /** One of each kind that the former CRDs take and the present ones refuse. */
  const probes = (name: string): Manifest[] => [
    plan(name, { apiRps: -1 }),
    make.tenant({ namespaces: [] }, `${herald.id}-${name}`),
    make.app({ channels: { ios: { ...ios, teamId: "A" } } }, name),
    make.apiKey({ scopes: [] }, name),
    make.webhook({ events: [] }, name),
    make.activityType({ name: "x".repeat(101) }, name),
    make.incident({ severity: "loud" }, name),
  ];
  /** Puts the CRDs in place; resolves when each is in force. */
  const release = async (which: "former" | "present"): Promise<void> => {
    for (const crd of crds) await herald.apply(which === "former" ? formerOf(crd) : crd);
    let round = 0;
    await until(async () => {
      const tried = probes(`probe-${which}-${round++}`);
      const taken = await Promise.all(tried.map(isTaken));
      for (const probe of tried) await until(() => isRemoved(probe));
      return taken.every((isIn) => isIn === (which === "former"));
    }, 20_000);
  };
  /** Until the storage of a CRD that has changed is there, lists of its objects are answered 429. */
  const notYet = (error: unknown): string[] => {
    if (hasStatus(error, 429)) return [String(error)];
    throw error;
  };
  const settled = async (): Promise<void> => {
    let last: string[] = [];
    const isTrue = async (): Promise<boolean> => (last = await differences(herald).catch(notYet)).length === 0;
    await until(isTrue, 20_000).catch((cause: unknown) => {
      throw new Error(last.join("; "), { cause });
    });
  };
  const all = () => [make.plan(), make.tenant(), make.app(), make.apiKey(), make.webhook(), make.activityType()];

  it("are upgraded under a running operator: what is stored becomes ready by itself, and new members work", async () => {
    await release("former");
    await herald.start({ settings: { resyncSeconds: 2 } });
    await herald.apply(make.iosSecret());
    for (const object of all()) await herald.apply(object);
    for (const object of all()) await herald.ready(object, "False", "InvalidSpec"); // without what it needs to know
    expect(await herald.db.collection("plans").countDocuments()).to.equal(0);
    await release("present");
    for (const object of all()) await herald.ready(object);
    await settled();
    await herald.patch(make.plan(), { spec: { managementPolicy: "CreateOnly" } });
    await herald.ready(make.plan(), "True", "CreateOnly");
  });

  it("let things in that a rule now forbids: they are called invalid, and nothing is done about them", async () => {
    await release("former");
    const bad = [
      plan("no-requests", { apiRps: 0 }),
      plan("telepathic", { features: ["telepathy"] }),
      make.tenant({ namespaces: [] }, `${herald.id}-nowhere`),
      make.webhook({ url: "gopher://hooks.example" }, "gopher"),
      make.apiKey({ scopes: ["root"] }, "root"),
    ];
    for (const object of bad) expect(await isTaken(object)).to.equal(true);
    await release("present");
    await herald.apply(make.iosSecret());
    for (const object of all()) await herald.apply(object);
    await herald.start({ settings: { resyncSeconds: 2 } });
    for (const object of bad) await herald.ready(object, "False", "InvalidSpec");
    for (const object of all()) await herald.ready(object);
    const {
      plans = [],
      tenants = [],
      webhooks = [],
      api_keys: keys = [],
      streams = [],
      secrets = [],
    } = await snapshotOf(herald);
    expect([plans, tenants, webhooks, keys].map(({ length }) => length)).to.deep.equal([1, 1, 1, 1]);
    const ofAll = sharedStreams(herald.id, testTiming, testPartitioning).length; // beside the plan's
    expect(streams.length).to.equal(1 + ofAll);
    expect(secrets.length).to.equal(3); // of iOS, the key and the webhook
    for (const object of bad) await herald.remove(object);
    for (const object of bad) await herald.gone(object);
    await settled();
  });

  it("let in a name that a rule now forbids: nothing is done about it, and an event says so", async () => {
    await release("former");
    const dotted = plan("with.dots");
    expect(await isTaken(dotted)).to.equal(true);
    await release("present");
    await herald.start();
    await until(async () => {
      const path = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DPlan";
      type Reported = { reason: string; message: string; involvedObject: { name: string } };
      const { items } = await herald.client.call<{ items: Reported[] }>(
        { method: "GET", path },
        AbortSignal.timeout(60_000),
      );
      return items.some(
        ({ reason, involvedObject }) => reason === "InvalidSpec" && involvedObject.name === dotted.metadata.name,
      );
    }, 15_000);
    expect(await herald.db.collection("plans").countDocuments()).to.equal(0);
    await herald.remove(dotted);
    await herald.gone(dotted);
  });

  it("of two versions serve both to every client, and what is stored follows under a running operator", async () => {
    const beta = (object: Manifest): Manifest => ({ ...object, apiVersion: "herald.dev/v1beta1" });
    const definition = crds.find(({ metadata }) => metadata.name === "plans.herald.dev") as Manifest; // it is of the release
    const { versions } = definition.spec as { versions: { name: string; storage: boolean }[] };
    const stored = async (): Promise<string[]> => {
      const { storedVersions = [] } = ((await herald.get(definition))?.status ?? {}) as { storedVersions?: string[] }; // of a definition
      return storedVersions;
    };
    const rewritten = async (object: Manifest): Promise<string | undefined> =>
      (await herald.patch(object, {})).metadata.resourceVersion;
    await release("present");
    const { stop } = await herald.start();
    const [old, young, probe] = [plan("old"), plan("young"), plan("version")];
    await herald.apply(old);
    await herald.apply(beta(young));
    await herald.apply(probe);
    for (const object of [old, young, probe]) await herald.ready(object);

    const before = await rewritten(probe);
    await herald.apply({
      ...definition,
      spec: { ...definition.spec, versions: versions.map((one) => ({ ...one, storage: one.name === "v1beta1" })) },
    });
    await until(async () => (await rewritten(probe).catch(() => before)) !== before, 60_000); // it is in force
    expect(await stored()).to.deep.equal(["v1alpha1", "v1beta1"]);
    await stop();
    const [oldBefore, youngBefore] = [await herald.get(old), await herald.get(young)];
    await herald.start({ settings: { resyncSeconds: 1 } });
    await until(async () => (await stored()).join() === "v1beta1", 60_000);

    for (const [object, was] of [
      [old, oldBefore],
      [young, youngBefore],
    ] as const) {
      const [alpha, newer] = [await herald.ready(object), await herald.get(beta(object))];
      expect(alpha.metadata.resourceVersion).not.to.equal(was?.metadata.resourceVersion);
      expect({ ...alpha, apiVersion: "" }).to.deep.equal({ ...newer, apiVersion: "" });
      expect([alpha.spec, alpha.metadata.generation, alpha.metadata.uid]).to.deep.equal([
        was?.spec,
        was?.metadata.generation,
        was?.metadata.uid,
      ]);
      const kubectl = kubectlFor(kubernetes.kubeconfig);
      for (const shown of [object, beta(object)]) {
        const asApplied = { ...shown, metadata: { ...shown.metadata, labels: alpha.metadata.labels } };
        expect(await kubectl(["diff", "--server-side", "--filename", "-"], JSON.stringify(asApplied))).to.equal("");
      }
    }
    await herald.patch(old, { spec: { apiRps: 7 } }); // by a client that knows the former version only
    await herald.ready(beta(old));
    expect(await herald.db.collection<{ _id: string }>("plans").findOne({ _id: old.metadata.name })).to.include({
      api_rps: 7,
    });
  });
});
