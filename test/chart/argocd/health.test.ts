import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { parse } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import { findTool } from "../../../dev/files/find-tool.ts";
import { rootDir } from "../../../dev/files/paths.ts";
import {
  type Installation,
  installation,
  type Manifest,
  type Seen,
  type Started,
} from "../../integration/operator/support/harness.ts";
import { manifests } from "../../integration/operator/support/manifests.ts";
import { privateServers } from "../../support/servers/servers.ts";
import { until } from "../../support/until.ts";

type Health = { status: string; message: string };

describe("Argo CD's health of every kind, on objects of a real API server", function () {
  this.timeout(300_000); // every wait inside has a bound of its own
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let operator: Started;
  let nats: Awaited<ReturnType<typeof privateServers<"nats">>>;
  let dir: string;
  let runner: string;
  let scripts: Record<string, string>;

  before(async () => {
    runner = findTool("argo-health") ?? expect.fail("argo-health is missing: make install-chart-tools");
    dir = await mkdtemp(join(tmpdir(), "argo-"));
    const config = parse(await readFile(join(rootDir, "deploy/argocd/argocd-cm.yaml"), "utf8")) as {
      data: Record<string, string>;
    };
    scripts = config.data;
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

  /** As Argo CD would judge the object: by the script of its kind, under the same limits. */
  const healthOf = async (object: Seen | null): Promise<Health> => {
    const [script, file] = [join(dir, "health.lua"), join(dir, "object.json")];
    await writeFile(script, scripts[`resource.customizations.health.herald.dev_${object?.kind}`] ?? "");
    await writeFile(file, JSON.stringify(object));
    const { stdout } = await promisify(execFile)(runner, [script, file]);
    return JSON.parse(stdout) as Health; // of our runner
  };
  const healthNow = async (object: Manifest): Promise<Health> => healthOf(await herald.get(object));
  const expectHealth = async (object: Manifest, status: string, message: string): Promise<void> => {
    const health = await healthNow(object);
    expect(health.status, health.message).to.equal(status);
    expect(health.message).to.include(message);
  };

  it("covers all kinds", () => {
    const kinds = allResources.map(({ kind }) => `resource.customizations.health.herald.dev_${kind}`);
    expect(Object.keys(scripts)).to.have.members(kinds);
  });

  it("is Healthy when a resource is Ready, for every kind", async () => {
    for (const object of resources()) await expectHealth(object, "Healthy", "is as the resource says");
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

  it("is Progressing while a resource is being deleted, and says what holds it", async () => {
    const plan = make.plan();
    await herald.remove(plan);
    await herald.ready(plan, "False", "InUse");
    await expectHealth(plan, "Progressing", "tenants are on this plan");
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
    await expectHealth(fresh, "Progressing", "waits for the operator");
    const changed = make.app({ timeZone: "Europe/Paris" });
    await herald.apply(changed);
    await expectHealth(changed, "Progressing", "waits for the operator");
  });
});

const iosOf = ({ spec }: Manifest): object => (spec as { channels: { ios: object } }).channels.ios; // as the builder writes it
