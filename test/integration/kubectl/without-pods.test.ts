import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { strFromU8, unzipSync } from "fflate";
import { collectionPath } from "#core/runtime/kube/paths.ts";
import { tenantResource } from "#core/schema/tenants/resource.ts";
import { webhookResource } from "#core/schema/webhooks/resource.ts";
import { ran } from "../../unit/kubectl/ran.ts";
import { type Installation, installation, type Manifest } from "../operator/support/harness.ts";
import { manifests } from "../operator/support/manifests.ts";

describe("kubectl herald on an API server whose cluster has no pods", () => {
  let herald: Installation;
  let namespace: string;

  before(async () => {
    herald = await installation();
    const make = manifests(herald);
    namespace = make.namespace.metadata.name;
    await herald.apply(make.namespace);
    const figures = (deliveries: number) => ({
      deliveries,
      messages: 1,
      events: 0,
      requests: 0,
      webhookRequests: 0,
      bytes: 0,
    });
    for (const [n, deliveries] of [120, 9_000].entries()) {
      const tenant = make.tenant({ namespaces: [`${namespace}-${n}`] }, `${herald.id}-t${n}`);
      await herald.apply(tenant);
      const usage = {
        lastHour: figures(deliveries),
        thisMonth: figures(deliveries * 10),
        webhookBacklog: n,
        updatedAt: "2026-01-01T00:00:00Z",
      };
      await giveStatus(tenant, collectionPath(tenantResource), { usage });
    }
    for (const [name, successRate1h, p99Milliseconds1h] of [
      ["good", "100%", 20],
      ["slow", "100%", 900],
      ["bad", "3%", 50],
    ] as const) {
      const webhook = make.webhook({ secretName: `${name}-signing` }, name);
      await herald.apply(webhook);
      const health = { successRate1h, p99Milliseconds1h, updatedAt: "2026-01-01T00:00:00Z" };
      await giveStatus(webhook, collectionPath(webhookResource, { namespace }), { state: "active", health });
    }
  });
  after(() => herald?.close());

  const giveStatus = (object: Manifest, path: string, status: object): Promise<unknown> =>
    herald.client.call(
      { method: "PATCH", path: `${path}/${object.metadata.name}/status`, body: { status } },
      AbortSignal.timeout(60_000),
    );
  const kubectl = (...args: string[]) => ran(args, { env: { KUBECONFIG: herald.servers.kubeconfig } });

  it("shows who sends most and which webhooks fail most or are slowest", async () => {
    const { code, out } = await kubectl("top", "-n", namespace, "--limit", "1000", "-o", "json");
    const { tenants, webhooks } = JSON.parse(out) as { tenants: { tenant: string }[]; webhooks: { webhook: string }[] };
    expect(code).to.equal(0);
    const ours = tenants.map(({ tenant }) => tenant).filter((name) => name.startsWith(herald.id));
    expect(ours).to.deep.equal([`${herald.id}-t1`, `${herald.id}-t0`]);
    expect(webhooks.map(({ webhook }) => webhook)).to.deep.equal(
      ["bad", "slow", "good"].map((name) => `${namespace}/${name}`),
    );
    const { out: text } = await kubectl("top", "-n", namespace, "--limit", "2");
    expect(text)
      .to.match(new RegExp(`${namespace}/bad +active +3% +50 ms`))
      .and.not.contain("/good");
  });

  it("checks what there is, and says what is missing and what to do", async () => {
    const { code, out } = await kubectl("check", "-n", namespace, "-o", "json");
    const { checks } = JSON.parse(out) as { checks: { check: string; verdict: string; message: string }[] };
    expect(code).to.equal(1);
    expect(Object.fromEntries(checks.map(({ check, verdict }) => [check, verdict]))).to.deep.equal({
      "Kubernetes API": "pass",
      clock: "pass",
      kinds: "pass",
      programs: "fail",
      service: "fail",
      "provider accounts": "pass",
    });
    expect(checks.find(({ check }) => check === "programs")?.message).to.contain("-n names its namespace");
  });

  it("waits for a check no longer than it is told to", async () => {
    expect((await kubectl("check", "-n", namespace, "--wait", "--timeout", "1s")).code).to.equal(1);
  });

  it("says that there are no logs", async () => {
    const { code, err } = await kubectl("logs", "-n", namespace);
    expect(code).to.equal(1);
    expect(err).to.contain("There is no pod of Herald");
    expect((await kubectl("logs", "--since", "soon")).code).to.equal(2);
    expect((await kubectl("logs", "--tail", "0")).code).to.equal(2);
  });

  it("gathers a report in which no planted secret and no address is", async () => {
    const token = "tokAbCdEf0123456789tokAbCdEf0123456789";
    const make = manifests(herald);
    const planted = make.webhook(
      { url: `https://hooks.example/a?token=${token}`, secretName: "planted", description: "asks ada@example.com" },
      "planted",
    );
    await herald.apply({
      ...planted,
      metadata: { ...planted.metadata, annotations: { "example.com/api-key": token } },
    });
    const dir = await mkdtemp(join(tmpdir(), "herald-report-"));
    const { code, out } = await kubectl("report", "-n", namespace, join(dir, "a.zip"));
    const files = unzipSync(await readFile(join(dir, "a.zip")));
    await rm(dir, { recursive: true });
    expect(code, out).to.equal(0);
    expect(Object.keys(files)).to.include.members([
      "README.txt",
      "check.txt",
      "events.txt",
      "pods.yaml",
      "resources/webhooks.yaml",
      "status.txt",
    ]);
    const text = Object.values(files)
      .map((file) => strFromU8(file))
      .join("\n");
    expect(text).to.contain("secretName: planted").and.to.contain("https://hooks.example/a?token=***");
    expect(text).to.not.contain(token).and.not.contain("ada@example.com");
  });
});
