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
    const make = manifests(herald);
    for (const object of [make.namespace, make.plan(), make.tenant()]) await herald.apply(object);
    await herald.ready(make.tenant());
    await herald.apply(make.app({ timeZone: "Nowhere/Else" }));
    await fires(["HeraldResourcesRefused"]);
    await shows("HeraldResourcesRefused", "InvalidTimeZone");
  });

  it("somebody writes past the resources", async () => {
    const { herald, sending, fires, shows } = at();
    const { plan } = manifests(herald);
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
    await link.shut();
    await fires(["HeraldKubernetesApiFails"]);
    await shows("HeraldKubernetesApiFails", '"code":"<error>"');
    await link.open();
  });

  it("somebody else has the operator's Lease", async () => {
    const { herald, fires, shows } = at();
    const lease = (spec: object) => kubectl(herald, ["patch", "lease", herald.settings.leaseName, ...merged({ spec })]);
    const now = new Date().toISOString().replace("Z", "000Z");
    await lease({ holderIdentity: "somebody-else", renewTime: now, leaseDurationSeconds: 600 });
    await fires(["HeraldOperatorNotLeading"]);
    await shows("HeraldOperatorNotLeading", "leadership.ended");
    await lease({ holderIdentity: "" });
  });
};

const merged = (change: object): string[] => ["--type", "merge", "--patch", JSON.stringify(change)];

const kubectl = ({ servers, settings }: Planted["herald"], args: readonly string[]): Promise<string> => {
  const path = findTool("kubectl") ?? "kubectl";
  const env = { KUBECONFIG: servers.kubeconfig, PATH: `${dirname(path)}:${process.env["PATH"]}` };
  return command([path, "--namespace", settings.leaseNamespace, ...args], { env });
};
