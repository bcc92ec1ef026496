import { writeFile } from "node:fs/promises";
import { strToU8, zipSync } from "fflate";
import { stringify } from "yaml";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { resourceGroup } from "#core/schema/kubernetes/definition.ts";
import { checkers } from "../check/checkers.ts";
import { text } from "../kit/arguments.ts";
import type { Cluster } from "../kit/cluster.ts";
import type { Given, Run, Tools } from "../kit/command.ts";
import { UsageError } from "../kit/errors.ts";
import { metricsOf } from "../kit/metrics.ts";
import { durationMs } from "../kit/output.ts";
import { logOf, type Pod, programPods, restartsOf } from "../kit/pods.ts";
import { treeText } from "../status/print.ts";
import { treeOf } from "../status/tree.ts";
import { maskLine, maskText, maskValue } from "./mask.ts";

type Files = Record<string, string>;

/** Gathers everything and writes it into a zip. */
export const runReport: Run = async (given, tools) => {
  const cluster = tools.cluster();
  const sinceSeconds = sinceOf(given);
  const file = given.operands[0] ?? `herald-report-${tools.now().toISOString().slice(0, 19).replaceAll(":", "")}.zip`;
  const namespace = text(given, "namespace") ?? null;
  const say = (what: string): void => tools.err(`${what} …\n`);
  say("resources");
  const resources = await resourceFiles(cluster, tools);
  say("pods, their logs and metrics");
  const { items: pods } = await programPods(cluster, namespace, tools.signal);
  const logs = await logFiles(cluster, pods, sinceSeconds, tools.signal);
  const metrics = await metricFiles(cluster, pods, tools.signal);
  say("events, versions and checks");
  const rest = {
    ...(await eventFile(cluster, pods, tools.signal)),
    ...(await checkFile({ cluster, namespace, tools })),
    ...podFile(pods),
  };
  const files: Files = { "README.txt": readme(tools.now()), ...resources, ...rest, ...logs, ...metrics };
  await writeFile(
    file,
    zipSync(Object.fromEntries(Object.entries(files).map(([name, content]) => [name, strToU8(content)]))),
  );
  tools.out(`${file}: ${Object.keys(files).length} files, secrets and addresses masked\n`);
  return pods.length + Object.keys(resources).length > 0 ? 0 : 1;
};

const sinceOf = (given: Given): number => {
  const sinceMs = durationMs(text(given, "since") ?? "1h");
  if (sinceMs === null) throw new UsageError("--since takes a number and a unit, e.g. 90s, 5m or 1h");
  return sinceMs / 1_000;
};

const resourceFiles = async (cluster: Cluster, { signal, now }: Tools): Promise<Files> => {
  const kinds = await cluster.kinds(signal);
  const lists = await Promise.all(kinds.map((kind) => cluster.resources(kind, null, signal)));
  const seen = lists.flatMap(({ items }) => items);
  const files = kinds.map(({ plural }, n) => [
    `resources/${plural}.yaml`,
    stringify((lists[n]?.items ?? []).map(bare)),
  ]);
  const tree = treeText(treeOf(seen, { namespace: null, app: null }), { isWide: true, terminal: null, now: now() });
  return { ...Object.fromEntries(files), "status.txt": maskText(tree) };
};

const dropped = "kubectl.kubernetes.io/last-applied-configuration";

/** Without the managed fields and kubectl's copy of the whole. */
const bare = (object: { metadata: object }): unknown => {
  const {
    managedFields: _,
    annotations,
    ...metadata
  } = object.metadata as { managedFields?: unknown; annotations?: Record<string, string> };
  const { [dropped]: __, ...others } = annotations ?? {};
  return maskValue({ ...object, metadata: { ...metadata, annotations: others } });
};

const podsAtOnce = 4;
const mostLines = 5_000;

const logFiles = async (
  cluster: Cluster,
  pods: readonly Pod[],
  sinceSeconds: number,
  signal: AbortSignal,
): Promise<Files> => {
  const options = { tail: mostLines, sinceSeconds };
  const files = await mapBounded(pods, podsAtOnce, async (pod): Promise<[string, string][]> => {
    const { name } = pod.metadata;
    const now = await logOf(cluster, pod, options, signal).catch(reasonOf);
    if (restartsOf(pod) === 0) return [[`logs/${name}.log`, maskLines(now)]];
    const before = await logOf(cluster, pod, { tail: mostLines, sinceSeconds: null, previous: true }, signal).catch(
      reasonOf,
    );
    return [
      [`logs/${name}.log`, maskLines(now)],
      [`logs/${name}.before-restart.log`, maskLines(before)],
    ];
  });
  return Object.fromEntries(files.flat());
};

const metricFiles = async (cluster: Cluster, pods: readonly Pod[], signal: AbortSignal): Promise<Files> => {
  const files = await mapBounded(pods, podsAtOnce, async (pod) => {
    const metrics = await metricsOf(cluster, pod, signal).catch(reasonOf);
    return [`metrics/${pod.metadata.name}.txt`, maskText(metrics)] as const;
  });
  return Object.fromEntries(files);
};

const reasonOf = (error: unknown): string => `not to be had: ${error instanceof Error ? error.message : String(error)}`;

const maskLines = (log: string): string => log.split("\n").map(maskLine).join("\n");

type Event = {
  lastTimestamp?: string;
  eventTime?: string;
  type: string;
  reason: string;
  message: string;
  involvedObject: { kind: string; namespace?: string; name: string; apiVersion?: string };
};

/** Of Herald's resources and of its pods. */
const eventFile = async (cluster: Cluster, pods: readonly Pod[], signal: AbortSignal): Promise<Files> => {
  const { items } = await cluster.list<Event>("/api/v1/events", signal);
  const ours = new Set(pods.map(({ metadata }) => metadata.name));
  const lines = items
    .filter(({ involvedObject: of }) => of.apiVersion?.startsWith(`${resourceGroup}/`) === true || ours.has(of.name))
    .map(({ lastTimestamp, eventTime, type, reason, message, involvedObject: of }) =>
      [lastTimestamp ?? eventTime ?? "", type, reason, `${of.kind} ${of.namespace ?? ""}/${of.name}`, message].join(
        "\t",
      ),
    );
  return { "events.txt": maskText(`${lines.sort().join("\n")}\n`) };
};

const checkFile = async ({
  cluster,
  namespace,
  tools: { signal, now },
}: {
  cluster: Cluster;
  namespace: string | null;
  tools: Tools;
}): Promise<Files> => {
  const lines = await Promise.all(
    checkers.map(async ({ check, make }) => {
      const { verdict, message } = await make({ cluster, namespace, signal, now }).catch((error: unknown) => ({
        verdict: "fail",
        message: reasonOf(error),
      }));
      return `${check}: ${verdict}: ${message}`;
    }),
  );
  return { "check.txt": maskText(`${lines.join("\n")}\n`) };
};

/** What runs where; not with which variables. */
const podFile = (pods: readonly Pod[]): Files => ({
  "pods.yaml": stringify(
    pods.map((pod) => ({
      name: `${pod.metadata.namespace ?? ""}/${pod.metadata.name}`,
      node: pod.spec.nodeName ?? null,
      phase: pod.status.phase,
      startTime: pod.status.startTime ?? null,
      restarts: restartsOf(pod),
      images: pod.spec.containers.map(({ image }) => image),
    })),
  ),
});

const readme = (now: Date): string =>
  `What Herald is like on a cluster, gathered at ${now.toISOString()} by kubectl herald report.\n` +
  "No Secret was read. What looks like a token, a key, a password, an e-mail address or a phone number is ***.\n";
