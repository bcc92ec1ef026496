import type { Terminal } from "../kit/command.ts";
import { age } from "../kit/output.ts";
import { type Cell, table } from "../kit/table.ts";
import { called, isReady, type Node, walk } from "./node.ts";
import { firstCause, notReady } from "./tree.ts";

/** The tree for people: a line for each resource, and below it the first cause of trouble. */
export const treeText = (
  roots: readonly Node[],
  { isWide, terminal, now }: { isWide: boolean; terminal: Terminal; now: Date },
): string => {
  const heads = ["RESOURCE", "READY", "REASON", ...(isWide ? ["ID", "AGE"] : []), "MORE"];
  const rows = roots
    .flatMap((root) => lines(root, "", ""))
    .map(({ node, label }): Cell[] => [
      label,
      { text: node.ready, colour: colourOf(node) },
      node.reason,
      ...(isWide ? [node.id ?? "", age(node.createdAt ?? undefined, now)] : []),
      isReady(node) ? node.facts : [node.facts, node.message].filter(Boolean).join("; "),
    ]);
  return `${table(heads, rows, isWide ? null : terminal)}\n${verdict(roots)}\n`;
};

type Line = { node: Node; label: string };

const lines = (node: Node, lead: string, below: string): Line[] => [
  { node, label: `${lead}${node.kind} ${nameOf(node, lead)}` },
  ...node.children.flatMap((child, n) => {
    const isLast = n === node.children.length - 1;
    return lines(child, `${below}${isLast ? "└─ " : "├─ "}`, `${below}${isLast ? "   " : "│  "}`);
  }),
];

/** With its namespace where the line above does not say it. */
const nameOf = ({ kind, namespace, name }: Node, lead: string): string =>
  namespace === null || kind === "Channel" || lead.length > 3 ? name : `${namespace}/${name}`;

const colourOf = ({ ready }: Node): "green" | "red" | "yellow" => {
  if (ready === "True") return "green";
  return ready === "False" ? "red" : "yellow";
};

/** One sentence: how many are Ready, and what to look at first. */
const verdict = (roots: readonly Node[]): string => {
  const count = roots.flatMap(walk).length;
  const [cause, troubled] = [firstCause(roots), notReady(roots)];
  if (cause === undefined) return `All ${count} are Ready.`;
  const rest = troubled.length - 1;
  const others = rest === 0 ? "" : ` ${rest} more ${rest === 1 ? "is" : "are"} not Ready.`;
  return `First cause: ${called(cause)}: ${cause.reason}: ${cause.message}.${others}`.replace("..", ".");
};

/** What `-o json` and `-o yaml` have: members stay, others may come. */
export const treeDocument = (roots: readonly Node[]) => ({
  ready: roots.length > 0 && notReady(roots).length === 0,
  firstCause: causeOf(firstCause(roots)),
  notReady: notReady(roots).map(causeOf),
  resources: roots,
});

const causeOf = (node: Node | undefined) => {
  if (node === undefined) return null;
  const { kind, namespace, name, ready, reason, message } = node;
  return { kind, namespace, name, ready, reason, message };
};
