import { setTimeout as sleep } from "node:timers/promises";
import { isSet, text } from "../kit/arguments.ts";
import type { Cluster, Seen, ServedKind } from "../kit/cluster.ts";
import type { Given, Run, Tools } from "../kit/command.ts";
import { printed } from "../kit/output.ts";
import { waitOf } from "../kit/waiting.ts";
import type { Node } from "./node.ts";
import { treeDocument, treeText } from "./print.ts";
import { notReady, type Shown, treeOf } from "./tree.ts";

const lookEveryMs = 2_000;

/** Prints the tree, once or each time that it has changed; 0 when everything in it is Ready. */
export const runStatus: Run = async (given, tools) => {
  const cluster = tools.cluster();
  const [shown, waitMs, isWatched] = [shownBy(given, cluster), waitOf(given), isSet(given, "watch")];
  const print = printer(given, tools, shown);
  const endsMs = performance.now() + (waitMs ?? 0);
  for (;;) {
    const roots = treeOf(await look(cluster, shown, tools), shown);
    const isWell = roots.length > 0 && notReady(roots).length === 0;
    print(roots);
    const isOver = waitMs === null ? !isWatched : isWell || performance.now() >= endsMs;
    if (isOver) return isWell ? 0 : 1;
    await sleep(lookEveryMs, undefined, { signal: tools.signal });
  }
};

const shownBy = (given: Given, cluster: Cluster): Shown => ({
  namespace: isSet(given, "all-namespaces") ? null : (text(given, "namespace") ?? cluster.namespace),
  app: given.operands[0] ?? null,
});

/** Every resource that the tree may show. */
const look = async (cluster: Cluster, { namespace }: Shown, { signal, err }: Tools): Promise<Seen[]> => {
  const kinds = await cluster.kinds(signal);
  if (kinds.length === 0) err("This cluster has no resources of Herald: its CRDs are not installed.\n");
  const lists = await Promise.all(kinds.map((kind) => cluster.resources(kind, namespace, signal)));
  for (const kind of kinds.filter((_, n) => lists[n]?.forbidden)) err(leftOut(kind, namespace));
  return lists.flatMap(({ items }) => items);
};

const leftOut = ({ kind, isNamespaced }: ServedKind, namespace: string | null): string =>
  `You may not list ${kind}s${isNamespaced && namespace !== null ? ` in ${namespace}` : ""}: they are left out.\n`;

/** Prints what has changed since the last time, on a terminal in its place. */
const printer = (given: Given, { out, terminal, now }: Tools, shown: Shown) => {
  const format = text(given, "output");
  const textOf = (roots: readonly Node[]): string => {
    if (format === "json" || format === "yaml") return printed(treeDocument(roots), format);
    return roots.length === 0 ? nothing(shown) : treeText(roots, { isWide: format === "wide", terminal, now: now() });
  };
  let last = "";
  return (roots: readonly Node[]): void => {
    const next = textOf(roots);
    if (next === last) return;
    out(last !== "" && terminal !== null ? `${clearScreen}${next}` : next);
    last = next;
  };
};

const clearScreen = "\u001b[H\u001b[2J";

const nothing = ({ namespace, app }: Shown): string => {
  const what = app === null ? "There is no resource of Herald" : `There is no App ${app}`;
  return `${what}${namespace === null ? "" : ` in the namespace ${namespace}`}.\n`;
};
