import { eventually } from "./cluster.ts";
import { releaseName } from "./release.ts";
import { type System, samplesNamespace } from "./system.ts";

type Resource = {
  metadata: { generation: number };
  status: { conditions: { type: string; status: string; observedGeneration: number }[] };
};

/** Name of the pod that leads, or null between two. */
export const leader = async ({ cluster }: System): Promise<string | null> => {
  const lease = await cluster.get(["lease", "herald-operator", "--namespace", releaseName]);
  return lease.spec.holderIdentity?.split("_")[0] || null;
};

/** Waits until a pod leads that is not this one; the time since `sinceMs` (of `performance.now()`), in ms. */
export const nextLeader = async (at: System, before: string, sinceMs: number): Promise<number> => {
  await eventually(`a leader other than ${before}`, 40_000, async () => {
    const now = await leader(at);
    return now !== null && now !== before ? now : null;
  });
  return performance.now() - sinceMs;
};

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
