import { dirname } from "node:path";
import { findTool } from "../../../../dev/files/find-tool.ts";
import { command } from "../../../../dev/processes/run-command.ts";
import { reconcileAnnotation } from "../../../../operator/engine/object-writer.ts";
import { manifests } from "../../../integration/operator/support/manifests.ts";
import type { Planted } from "./planted.ts";

/** What breaks about resources and their operator. */
export const resourceCases = (at: () => Planted): void => {
  it("a resource with a mistake", async () => {
    const { herald, fires, shows } = at();
    const { app } = manifests(herald);
    await makeTenant(herald);
    await using mistaken = new AsyncDisposableStack();
    mistaken.defer(() => herald.remove(app()));
    await herald.apply(app({ timeZone: "Nowhere/Else" }));
    await fires(["HeraldResourcesRefused"]);
    await shows("HeraldResourcesRefused", "InvalidTimeZone");
  });

  it("the document of a resource is damaged", async () => {
    const { herald, sending, fires, shows } = at();
    const { app } = manifests(herald);
    const one = app({ channels: {} }, "damaged");
    await makeTenant(herald);
    await herald.apply(one);
    const { metadata, status } = await herald.ready(one);
    const apps = sending.system.db.collection<{ _id: string }>("apps");
    await using damaged = new AsyncDisposableStack();
    damaged.defer(async () => {
      await apps.updateOne({ _id: status?.id ?? "" }, { $unset: { "managed.members": "" } });
      await herald.remove(one);
    });
    await apps.updateOne({ _id: status?.id ?? "" }, { $set: { "managed.members": 5 } }); // a list of names
    await herald.patch(one, { metadata: { annotations: { [reconcileAnnotation]: "damaged" } } });
    await fires(["HeraldReconcilePanics"]);
    await shows("HeraldReconcilePanics", "TypeError", metadata.name);
  });

  it("somebody writes past the resources", async () => {
    const { herald, sending, fires, shows } = at();
    const { plan } = manifests(herald);
    await herald.apply(plan());
    const rows = sending.system.db.collection<{ _id: string }>("plans");
    let written = 0;
    const past = async (): Promise<void> => {
      await rows.updateOne({ _id: plan().metadata.name }, { $set: { api_rps: 1 + (++written % 2) } });
      await herald.patch(plan(), { metadata: { annotations: { [reconcileAnnotation]: String(written) } } });
    };
    await fires(["HeraldDriftRepaired"], past);
    await shows("HeraldDriftRepaired", '"kind":"plan"');
  });

  it("the API server does not answer the operator", async () => {
    const { link, fires, shows } = at();
    await using broken = new AsyncDisposableStack();
    await link.shut();
    broken.defer(() => link.open());
    await fires(["HeraldKubernetesApiFails"]);
    await shows("HeraldKubernetesApiFails", '"code":"<error>"');
  });

  it("somebody else has the operator's Lease", async () => {
    const { herald, fires, finds, shows } = at();
    const isLed = 'leader_election_master_status == 1 unless on () ALERTS{alertname="HeraldOperatorNotLeading"}';
    await finds(isLed, async () => undefined); // it loses the Lease also while the API server does not answer
    const lease = (spec: object) => kubectl(herald, ["patch", "lease", herald.settings.leaseName, ...merged({ spec })]);
    const now = new Date().toISOString().replace("Z", "000Z");
    await using taken = new AsyncDisposableStack();
    taken.defer(async () => void (await lease({ holderIdentity: "" })));
    await lease({ holderIdentity: "somebody-else", renewTime: now, leaseDurationSeconds: 600 });
    await fires(["HeraldOperatorNotLeading"]);
    await shows("HeraldOperatorNotLeading", "leadership.ended");
  });
};

const makeTenant = async (herald: Planted["herald"]): Promise<void> => {
  const { namespace, plan, tenant } = manifests(herald);
  for (const object of [namespace, plan(), tenant()]) await herald.apply(object);
  await herald.ready(tenant());
};

const merged = (change: object): string[] => ["--type", "merge", "--patch", JSON.stringify(change)];

const kubectl = ({ servers, settings }: Planted["herald"], args: readonly string[]): Promise<string> => {
  const path = findTool("kubectl") ?? "kubectl";
  const env = { KUBECONFIG: servers.kubeconfig, PATH: `${dirname(path)}:${process.env["PATH"]}` };
  return command([path, "--namespace", settings.leaseNamespace, ...args], { env });
};
