import { text as readText } from "node:stream/consumers";
import type { KubeObject } from "#core/runtime/kube/objects.ts";
import type { Cluster, Listed } from "./cluster.ts";

/** A pod, as far as it is looked at. */
export type Pod = KubeObject & {
  metadata: { labels?: Record<string, string> };
  spec: { nodeName?: string; containers: { name: string; image: string }[] };
  status: {
    phase: string;
    startTime?: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: { name: string; restartCount: number; state?: { waiting?: { reason?: string } } }[];
  };
};

export const programs = ["operator", "apiserver", "dispatcher"] as const;

/**
 * The pods of Herald's three programs, by the labels that the chart gives them: of one namespace, else of the whole
 * cluster, or of the context's namespace where the caller may not look at the rest.
 */
export const programPods = async (
  cluster: Cluster,
  namespace: string | null,
  signal: AbortSignal,
): Promise<Listed<Pod>> => {
  const wanted = `app.kubernetes.io/part-of=herald,app.kubernetes.io/component in (${programs.join(",")})`;
  const query = `&labelSelector=${encodeURIComponent(wanted)}`;
  const within = (name: string): Promise<Listed<Pod>> =>
    cluster.list<Pod>(`/api/v1/namespaces/${name}/pods`, signal, query);
  if (namespace !== null) return within(namespace);
  const all = await cluster.list<Pod>("/api/v1/pods", signal, query);
  return all.forbidden ? within(cluster.namespace) : all;
};

export const programOf = ({ metadata }: Pod): string => metadata.labels?.["app.kubernetes.io/component"] ?? "";

export const isPodReady = ({ status }: Pod): boolean =>
  status.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;

export const restartsOf = ({ status }: Pod): number =>
  (status.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);

export type LogOptions = { tail: number; sinceSeconds: number | null; previous?: boolean };

const logPath = (pod: Pod, { tail, sinceSeconds, previous = false }: LogOptions, follow: boolean): string => {
  const query = new URLSearchParams({
    container: programOf(pod),
    tailLines: String(tail),
    ...(sinceSeconds !== null && { sinceSeconds: String(sinceSeconds) }),
    ...(follow && { follow: "true" }),
    ...(previous && { previous: "true" }),
  });
  return `/api/v1/namespaces/${pod.metadata.namespace ?? ""}/pods/${pod.metadata.name}/log?${query.toString()}`;
};

/** The last lines of a pod's log. */
export const logOf = async (cluster: Cluster, pod: Pod, options: LogOptions, signal: AbortSignal): Promise<string> =>
  readText(await cluster.client.open({ method: "GET", path: logPath(pod, options, false), accept: "*/*" }, signal));

/** The last lines of a pod's log and those that come, in pieces as they come. */
export const followLog = (
  cluster: Cluster,
  pod: Pod,
  options: LogOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<Buffer>> =>
  cluster.client.open({ method: "GET", path: logPath(pod, options, true), accept: "*/*" }, signal);
