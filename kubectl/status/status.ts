import { setTimeout as sleep } from "node:timers/promises";
import { isSet, text } from "../kit/arguments.ts";
import type { Cluster, Seen, ServedKind } from "../kit/cluster.ts";
import { type Given, type Run, type Tools, UsageError } from "../kit/command.ts";
import { durationMs, printed } from "../kit/output.ts";
import type { Node } from "./node.ts";
import { treeDocument, treeText } from "./print.ts";
import { notReady, type Shown, treeOf } from "./tree.ts";

const lookEveryMs = 2_000;

/** Prints the tree, once or each time that it has changed; 0 when everything in it is Ready. */
export const runStatus: Run = async (given, tools) => {
  const cluster = tools.cluster();
  const options = optionsOf(given, cluster);
  const print = printer(given, tools);
  for (;;) {
    const roots = treeOf(await look(cluster, options.shown, tools), options.shown);
    const isWell = roots.length > 0 && notReady(roots).length === 0;
    print(roots, options);
    const isOver = options.waitMs === null ? !options.watch : isWell || tools.now().getTime() >= options.endsMs;
    if (isOver) return isWell ? 0 : 1;
    await sleep(lookEveryMs, undefined, { signal: tools.signal });
  }
};

type Options = { shown: Shown; watch: boolean; waitMs: number | null; endsMs: number };

const optionsOf = (given: Given, cluster: Cluster): Options => {
  const timeout = text(given, "timeout");
  const waitMs = durationMs(timeout ?? "5m");
  if (waitMs === null) throw new UsageError("--timeout takes a number and a unit, e.g. 90s, 5m or 1h");
  if (timeout !== undefined && !isSet(given, "wait")) throw new UsageError("--timeout goes with --wait");
  return {
    shown: {
      namespace: isSet(given, "all-namespaces") ? null : (text(given, "namespace") ?? cluster.namespace),
      app: given.operands[0] ?? null,
    },
    watch: isSet(given, "watch"),
    waitMs: isSet(given, "wait") ? waitMs : null,
    endsMs: Date.now() + waitMs,
  };
};

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

/** Prints what has changed since the last time. */
const printer = (given: Given, { out, terminal, now }: Tools) => {
  const format = text(given, "output");
  let last = "";
  return (roots: readonly Node[], { shown, watch, waitMs }: Options): void => {
    const document = format === "json" || format === "yaml" ? printed(treeDocument(roots), format) : null;
    const shownText =
      document ??
      (roots.length === 0 ? nothing(shown) : treeText(roots, { isWide: format === "wide", terminal, now: now() }));
    if (shownText === last) return;
    const clear = terminal !== null && last !== "" && (watch || waitMs !== null) ? "\u001b[H\u001b[2J" : "";
    last = shownText;
    out(clear + shownText);
  };
};

const nothing = ({ namespace, app }: Shown): string => {
  const what = app === null ? "There is no resource of Herald" : `There is no App ${app}`;
  return `${what}${namespace === null ? "" : ` in the namespace ${namespace}`}.\n`;
};
