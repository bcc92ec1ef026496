import { text as readText } from "node:stream/consumers";
import type { Cluster } from "./cluster.ts";
import { type Pod, programOf } from "./pods.ts";

/** What a program measures now, in the text format of Prometheus, through the API server's proxy of its pod. @throws KubeError */
export const metricsOf = async (cluster: Cluster, pod: Pod, signal: AbortSignal): Promise<string> => {
  const { namespace = "", name } = pod.metadata;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}:${healthPortOf(pod)}/proxy/metrics`;
  return readText(await cluster.client.open({ method: "GET", path, accept: "*/*" }, signal));
};

/** The port that the chart calls `health`; the proxy of pods takes numbers only. */
const healthPortOf = (pod: Pod): number => {
  const program = pod.spec.containers.find(({ name }) => name === programOf(pod));
  return program?.ports?.find(({ name }) => name === "health")?.containerPort ?? 9090;
};

/** The values of a metric, by the values of one of its labels. */
export const valuesBy = (metrics: string, metric: string, label: string): ReadonlyMap<string, number> => {
  const sample = new RegExp(`^${metric}\\{(?:[^}]*,)?${label}="([^"]*)"[^}]*\\} (\\S+)`, "gm");
  return new Map(Array.from(metrics.matchAll(sample), ([, of = "", value]) => [of, Number(value)]));
};
