import { eventually, type KubeObject } from "./cluster/cluster.ts";
import { releaseName } from "./release.ts";
import { type System, samplesNamespace } from "./system.ts";

type Resource = {
  metadata: { generation: number };
  status: { conditions: { type: string; status: string; observedGeneration: number }[] };
};

/** Name of the pod that leads, or null between two. */
export const leader = async (at: System): Promise<string | null> => holderOf(await leaseOf(at));

/** Waits until a pod leads that is not this one; when it took the Lease, as that says, in ms since the epoch. */
export const nextLeader = async (at: System, before: string): Promise<number> => {
  const { spec } = await eventually(`a leader other than ${before}`, 40_000, async () => {
    const lease = await leaseOf(at);
    const holder = holderOf(lease);
    return holder !== null && holder !== before ? lease : null;
  });
  return Date.parse(spec.acquireTime ?? "");
};

const leaseOf = ({ cluster }: System): Promise<KubeObject> =>
  cluster.get(["lease", "herald-operator", "--namespace", releaseName]);

const holderOf = ({ spec }: KubeObject): string | null => spec.holderIdentity?.split("_")[0] || null;

/** Changes a resource and waits until an operator has made it true; the time since `sinceMs`, in ms. */
export const nextReconcile = async ({ cluster }: System, sinceMs: number): Promise<number> => {
  const webhook = ["webhook", "shop-events", "--namespace", samplesNamespace];
  const patch = JSON.stringify({ spec: { description: `Changed at ${new Date().toISOString()}` } });
  await cluster.kubectl(["patch", ...webhook, "--type", "merge", "--patch", patch]);
  await eventually("the changed webhook is Ready", 40_000, async () => {
    const { metadata, status } = JSON.parse(await cluster.kubectl(["get", ...webhook, "-o", "json"])) as Resource; // a CRD's
    const ready = status.conditions.find(({ type }) => type === "Ready");
    return ready?.status === "True" && ready.observedGeneration === metadata.generation ? true : null;
  });
  return performance.now() - sinceMs;
};
