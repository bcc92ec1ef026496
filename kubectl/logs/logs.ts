import { setTimeout as sleep } from "node:timers/promises";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { isSet, text } from "../kit/arguments.ts";
import type { Cluster } from "../kit/cluster.ts";
import type { Given, Run, Tools } from "../kit/command.ts";
import { UsageError } from "../kit/errors.ts";
import { durationMs } from "../kit/output.ts";
import { followLog, type LogOptions, logOf, type Pod, programOf, programPods } from "../kit/pods.ts";
import { asJson, isWanted, type Line, lineOf, shown, type Wanted } from "./line.ts";
import { merge } from "./merge.ts";

/** Prints the logs of all pods in the order of time. */
export const runLogs: Run = async (given, tools) => {
  const cluster = tools.cluster();
  const options = optionsOf(given);
  const print = printer(given, tools, options);
  const pods = await podsOf(cluster, given, tools);
  if (pods.length === 0) {
    tools.err("There is no pod of Herald that you may list; -n names its namespace.\n");
    return 1;
  }
  if (isSet(given, "follow")) await follow({ cluster, given, tools, options, print });
  else print(await lastLines(cluster, pods, options, tools.signal));
  return 0;
};

type Options = LogOptions & { wanted: Wanted };

const optionsOf = (given: Given): Options => {
  const [since, tail, id] = [text(given, "since"), text(given, "tail"), text(given, "message") ?? null];
  const sinceMs = since === undefined ? null : durationMs(since);
  if (since !== undefined && sinceMs === null)
    throw new UsageError("--since takes a number and a unit, e.g. 90s, 5m or 1h");
  if (tail !== undefined && !/^[1-9]\d{0,6}$/.test(tail)) throw new UsageError("--tail takes a count of lines, from 1");
  const usual = since === undefined && id === null ? 100 : 10_000;
  return {
    tail: tail === undefined ? usual : Number(tail),
    sinceSeconds: sinceMs === null ? null : sinceMs / 1_000,
    wanted: { id, level: text(given, "level") ?? null },
  };
};

const podsOf = async (cluster: Cluster, given: Given, { signal }: Tools): Promise<Pod[]> => {
  const namespace = isSet(given, "all-namespaces") ? null : (text(given, "namespace") ?? null);
  const { items } = await programPods(cluster, namespace, signal);
  const program = text(given, "program");
  return items.filter((pod) => program === undefined || programOf(pod) === program);
};

type Print = (lines: readonly Line[]) => void;

const printer = (given: Given, { out, terminal }: Tools, { wanted }: Options): Print => {
  const say = text(given, "output") === "json" ? asJson : (line: Line) => shown(line, terminal?.hasColours ?? false);
  return (lines) => {
    const kept = lines.filter((line) => isWanted(line, wanted));
    if (kept.length > 0) out(`${kept.map(say).join("\n")}\n`);
  };
};

const podsAtOnce = 8;

const lastLines = async (
  cluster: Cluster,
  pods: readonly Pod[],
  options: LogOptions,
  signal: AbortSignal,
): Promise<Line[]> => {
  const texts = await mapBounded(pods, podsAtOnce, async (pod) =>
    linesOf(pod, await logOf(cluster, pod, options, signal)),
  );
  return texts.flat().sort((a, b) => a.atMs - b.atMs);
};

const linesOf = (pod: Pod, log: string): Line[] => {
  const lines: Line[] = [];
  for (const one of log.split("\n"))
    if (one !== "") lines.push(lineOf(pod.metadata.name, one, lines.at(-1)?.atMs ?? 0));
  return lines;
};

const printEveryMs = 250;
const keptBackMs = 1_000;
const lookEveryMs = 5_000;

type Following = { cluster: Cluster; given: Given; tools: Tools; options: Options; print: Print };

/** Goes on until it is interrupted, with pods that come, too. */
const follow = async ({ cluster, given, tools, options, print }: Following): Promise<void> => {
  const lines = merge();
  const followed = new Set<string>();
  const seenMs = new Map<string, number>(); // of each pod's last line: one that restarted begins with what it wrote before
  const look = async (): Promise<void> => {
    for (const pod of await podsOf(cluster, given, tools)) {
      if (followed.has(pod.metadata.uid)) continue;
      followed.add(pod.metadata.uid);
      const from = { sinceMs: seenMs.get(pod.metadata.uid) ?? Number.NEGATIVE_INFINITY };
      const add = (line: Line): void => {
        seenMs.set(pod.metadata.uid, line.atMs);
        if (line.atMs > from.sinceMs) lines.add(line);
      };
      void readOn({ cluster, pod, options, signal: tools.signal, add })
        .catch((error: unknown) => tools.err(`${pod.metadata.name}: ${messageOf(error)}\n`))
        .finally(() => followed.delete(pod.metadata.uid)); // one that restarted is followed again
    }
  };
  for (let nextLookMs = 0; !tools.signal.aborted; ) {
    if (performance.now() >= nextLookMs) {
      await look();
      nextLookMs = performance.now() + lookEveryMs;
    }
    print(lines.until(Date.now() - keptBackMs));
    await sleep(printEveryMs, undefined, { signal: tools.signal }).catch(() => undefined);
  }
  print(lines.until(Number.POSITIVE_INFINITY));
};

const mostCharacters = 1_000_000; // of one line

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

type Reading = {
  cluster: Cluster;
  pod: Pod;
  options: LogOptions;
  signal: AbortSignal;
  add: (line: Line) => void;
};

const readOn = async ({ cluster, pod, options, signal, add }: Reading): Promise<void> => {
  let rest = "";
  let lastMs = 0;
  const decoder = new TextDecoder();
  for await (const piece of await followLog(cluster, pod, options, signal)) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = (parts.pop() ?? "").slice(-mostCharacters);
    for (const one of parts.filter((part) => part !== "")) {
      const line = lineOf(pod.metadata.name, one, lastMs);
      lastMs = line.atMs;
      add(line);
    }
  }
};
