import type { Cluster } from "./cluster/cluster.ts";
import { programs, releaseName, selector } from "./release.ts";
import type { System } from "./system.ts";

/** The state of the cluster for a person who has to understand a failure. */
export const diagnose = async ({ cluster }: Pick<System, "cluster">): Promise<string> => {
  const parts = await Promise.all([
    shown(cluster, ["get", "nodes,pods", "-A", "--output", "wide"]),
    shown(cluster, ["get", "herald", "-A"]),
    shown(cluster, ["events", "--namespace", releaseName], 30),
    ...programs.map((program) =>
      shown(cluster, ["logs", "--namespace", releaseName, "--selector", selector(program), "--prefix", "--tail", "8"]),
    ),
  ]);
  return parts.join("\n\n");
};

const shown = async (cluster: Cluster, args: readonly string[], lastLines = 100): Promise<string> => {
  const { stdout, stderr } = await cluster.tryKubectl(args, { timeoutMs: 20_000 });
  const lines = `${stdout}${stderr}`.trimEnd().split("\n").slice(-lastLines);
  return [`$ kubectl ${args.join(" ")}`, ...lines.map((line) => line.slice(0, 300))].join("\n");
};
