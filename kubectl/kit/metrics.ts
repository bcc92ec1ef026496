import { text as readText } from "node:stream/consumers";
import type { Cluster } from "./cluster.ts";
import type { Pod } from "./pods.ts";

const withinMs = 5_000; // a NetworkPolicy that keeps the API server out lets it wait

/**
 * What a pod's `/metrics` says, through the API server's proxy.
 * @throws when the caller may not get `pods/proxy`, or the API server does not reach the pod
 */
export const metricsOf = async (
  { client }: Pick<Cluster, "client">,
  { metadata }: Pick<Pod, "metadata">,
  signal: AbortSignal,
): Promise<string> => {
  const path = `/api/v1/namespaces/${metadata.namespace ?? ""}/pods/${metadata.name}:${healthPort}/proxy/metrics`;
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  return readText(await client.open({ method: "GET", path, accept: "text/plain" }, inTime));
};

const healthPort = 9090; // as the chart has it

/** The values of a metric in such a text, by the value of one of its labels. */
export const valuesOf = (metrics: string, name: string, label: string): Map<string, number> => {
  const samples = metrics.matchAll(new RegExp(String.raw`^${name}\{(?:.*,)?${label}="([^"]*)"[^}]*\} (\S+)$`, "gm"));
  return new Map([...samples].map(([, of = "", value]) => [of, Number(value)]));
};
