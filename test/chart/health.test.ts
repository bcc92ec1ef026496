import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { parse, parseAllDocuments } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import { resourceGroup, versionsOf } from "#core/schema/kubernetes/definition.ts";
import { findTool } from "../../dev/files/find-tool.ts";
import { rootDir } from "../../dev/files/paths.ts";
import {
  type Installation,
  installation,
  type Manifest,
  type Seen,
  type Started,
} from "../integration/operator/support/harness.ts";
import { manifests } from "../integration/operator/support/manifests.ts";
import { privateServers } from "../support/servers/servers.ts";
import { until } from "../support/until.ts";
import { runTool } from "./support/helm.ts";

type Health = { status: string; message: string };
/** What Flux says of an object; Unknown, and why, where it cannot say. */
type FluxHealth = { status: string; error?: string };
type Expressions = { apiVersion: string; kind: string; current: string; failed: string };
type Kustomization = { spec: { healthCheckExprs: Expressions[] } };

/** What is said of an object by Flux where Argo CD says this. */
const fluxStatuses: Record<string, string> = {
  Healthy: "Current",
  Suspended: "Current", // it has no word for what is switched off on purpose
  Degraded: "Failed",
  Progressing: "InProgress",
};

describe("the health of every kind by Argo CD and Flux, on objects of a real API server", function () {
  this.timeout(300_000); // every wait inside has a bound of its own
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let operator: Started;
  let nats: Awaited<ReturnType<typeof privateServers<"nats">>>;
  let dir: string;
  let scripts: Record<string, string>;
  let expressions: Expressions[];

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "health-"));
    const config = parse(await readFile(join(rootDir, "deploy/argocd/argocd-cm.yaml"), "utf8")) as {
      data: Record<string, string>;
    };
    scripts = config.data;
    const flux = parseAllDocuments(await readFile(join(rootDir, "deploy/flux/tenants.yaml"), "utf8"));
    expressions = flux.flatMap((one) => (one.toJS() as Kustomization).spec.healthCheckExprs);
    herald = await installation();
    nats = await privateServers({ nats: true });
    make = manifests(herald);
    operator = await herald.start({ natsUrl: nats.nats.url });
    for (const object of whole()) await herald.apply(object);
    for (const object of resources()) await herald.ready(object);
  });
  after(async () => {
    await nats?.nats.start().catch(() => {}); // the operator waits for it to stop
    await herald?.close();
    await nats?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const resources = (): Manifest[] => [
    make.plan({ features: ["webhooks", "live_activities", "warehouse_export"] }),
    make.tenant(),
    make.app(),
    make.apiKey(),
    make.webhook(),
    make.activityType(),
    make.segment(),
    make.template(),
    make.inAppMessage(),
    make.lake(),
    make.incident(),
  ];
  const whole = (): Manifest[] => [
    make.namespace,
    make.iosSecret(),
    make.secret("lake", { access_key_id: "x", secret_access_key: "x" }),
    ...resources(),
  ];

  /** Has the object judged by a tool that runs the judge's own libraries. */
  const judged = async (tool: string, rules: string, object: Seen | null): Promise<unknown> => {
    const [given, file] = [join(dir, "rules"), join(dir, "object.json")];
    await writeFile(given, rules);
    await writeFile(file, JSON.stringify(object));
    const runner = findTool(tool) ?? expect.fail(`${tool} is missing: make install-chart-tools`);
    return JSON.parse((await promisify(execFile)(runner, [given, file])).stdout);
  };
  /** By the script of its kind. */
  const healthOf = async (object: Seen | null): Promise<Health> =>
    (await judged(
      "argocd-health",
      scripts[`resource.customizations.health.herald.dev_${object?.kind}`] ?? "",
      object,
    )) as Health; // of our runner
  const fluxHealthOf = async (object: Seen | null): Promise<FluxHealth> => {
    const isOf = ({ apiVersion, kind }: Expressions) => kind === object?.kind && apiVersion === object.apiVersion;
    const { current = "", failed = "" } = expressions.find(isOf) ?? {};
    return (await judged("flux-health", JSON.stringify({ current, failed }), object)) as FluxHealth; // of our runner
  };
  const expectHealth = async (
    object: Manifest,
    status: string,
    message: string,
    byFlux = fluxStatuses[status],
  ): Promise<void> => {
    const seen = await herald.get(object);
    const health = await healthOf(seen);
    expect(health.status, health.message).to.equal(status);
    expect(health.message).to.include(message);
    const { status: found, error } = await fluxHealthOf(seen);
    expect(found, error).to.equal(byFlux);
  };

  it("covers all kinds, in each version that is served", () => {
    const kinds = allResources.map(({ kind }) => `resource.customizations.health.herald.dev_${kind}`);
    expect(Object.keys(scripts)).to.have.members(kinds);
    expect(expressions.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)).to.have.members(
      allResources.flatMap((one) => versionsOf(one).map((version) => `${resourceGroup}/${version} ${one.kind}`)),
    );
  });

  it("is Healthy when a resource is Ready, for every kind", async () => {
    for (const object of resources()) await expectHealth(object, "Healthy", "is as the resource says");
  });

  it("stays, as a second sync of each kind finds nothing to change by the API server's own diff", async () => {
    const file = join(dir, "resources.json");
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: resources() }));
    const how = ["--server-side", "--force-conflicts", "--field-manager=argocd-controller", "-f", file];
    const access = ["--kubeconfig", herald.servers.kubeconfig];
    expect(await runTool("kubectl", ["apply", ...how, ...access])).to.have.string("serverside-applied");
    expect(await runTool("kubectl", ["diff", ...how, ...access])).to.equal("");
  });

  it("is Degraded when somebody must change the resource", async () => {
    const refused = make.app({ timeZone: "Nowhere/Else" }, "refused");
    await herald.apply(refused);
    await herald.ready(refused, "False", "InvalidTimeZone");
    await expectHealth(refused, "Degraded", "Nowhere/Else is not an IANA time zone");
  });

  it("is Progressing while something is awaited that another sync, or another operator, makes", async () => {
    const waiting: [Manifest, string][] = [
      [
        make.tenant({ plan: `${herald.id}-none`, namespaces: [`${herald.id}-b`] }, `${herald.id}-early`),
        "PlanNotFound",
      ],
      [{ ...make.app({}, "stray"), metadata: { name: "stray", namespace: "default" } }, "TenantNotFound"],
      [make.webhook({ appRef: "later" }, "early"), "AppNotFound"],
      [
        make.app({ channels: { ios: { ...iosOf(make.app()), secretRef: { name: "later" } } } }, "keyless"),
        "SecretNotFound",
      ],
    ];
    for (const [object, reason] of waiting) {
      await herald.apply(object);
      const { kind, status } = await herald.ready(object, "False", reason);
      await expectHealth(
        object,
        "Progressing",
        status?.conditions?.find(({ type }) => type === "Ready")?.message ?? kind,
      );
      await herald.remove(object);
    }
  });

  it("is Suspended for a suspended tenant and a suspended or paused webhook", async () => {
    const suspended: [Manifest, string][] = [
      [make.tenant({ suspended: true }), "is suspended"],
      [make.webhook({ suspended: true }), "is suspended"],
      [make.webhook({ paused: true, suspended: false }), "is paused"],
    ];
    for (const [object, message] of suspended) {
      await herald.apply(object);
      await herald.ready(object);
      await expectHealth(object, "Suspended", message);
    }
    for (const object of [make.tenant({ suspended: false }), make.webhook({ paused: false })]) {
      await herald.apply(object);
      await herald.ready(object);
      await expectHealth(object, "Healthy", "is as the resource says");
    }
  });

  it("is Progressing while a resource is being deleted", async () => {
    const plan = make.plan();
    await herald.remove(plan);
    await herald.ready(plan, "False", "InUse");
    await expectHealth(plan, "Progressing", "Pending deletion", "Failed"); // no script is asked
  });

  it("is Progressing while a store is away", async () => {
    const plan = make.plan({}, `${herald.id}-late`);
    await nats.nats.stop();
    await herald.apply(plan);
    await until(async () => (await herald.get(plan))?.status?.conditions?.length === 2, 90_000);
    await expectHealth(plan, "Progressing", "JetStream");
  });

  it("is Progressing while nobody has looked at a resource, or at its newest generation", async () => {
    await nats.nats.start();
    await operator.stop();
    const fresh = make.plan({}, `${herald.id}-fresh`);
    await herald.apply(fresh);
    await expectHealth(fresh, "Progressing", "waits for the operator", "Unknown"); // Flux waits for it: it has no status
    const changed = make.app({ timeZone: "Europe/Paris" });
    await herald.apply(changed);
    await expectHealth(changed, "Progressing", "waits for the operator");
  });
});

const iosOf = ({ spec }: Manifest): object => (spec as { channels: { ios: object } }).channels.ios; // as the builder writes it
