import type { Cluster } from "./cluster.ts";

/** What comes and goes by itself, or belongs to what the cluster does of its own. */
const volatile = new Set([
  "events",
  "events.events.k8s.io",
  "pods.metrics.k8s.io",
  "nodes.metrics.k8s.io",
  "componentstatuses",
]);

/** Every object of every kind in the cluster, as `namespace/resource/name`. */
export const inventory = async (cluster: Cluster): Promise<ReadonlySet<string>> => {
  const { stdout } = await cluster.tryKubectl(["api-resources", "--verbs", "list", "--output", "name"]);
  const kinds = stdout.split("\n").filter((kind) => kind !== "" && !volatile.has(kind));
  const columns = "custom-columns=NS:.metadata.namespace,KIND:.kind,NAME:.metadata.name";
  const rows = await cluster.kubectl(["get", kinds.join(","), "-A", "--no-headers", "--output", columns]);
  return new Set(
    rows
      .split("\n")
      .filter((row) => row !== "" && !row.startsWith("kube-system "))
      .map((row) => row.split(/\s+/).slice(0, 3).join("/")),
  );
};
