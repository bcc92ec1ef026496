import type { Cluster } from "./cluster.ts";

/** An option of a command, `--name`; those of every command are in {@link commonOptions}. */
export type Option = {
  type: "string" | "boolean";
  short?: string;
  /** How its value is called in the help, e.g. `DURATION`. */
  value?: string;
  /** The values that it takes; any when left out. */
  choices?: readonly string[];
  /** Whether it may be given several times. */
  isRepeated?: true;
  description: string;
};

/** Something that a command asks of the Kubernetes API, as RBAC has it. */
export type Permission = { group: string; resource: string; verbs: readonly Verb[]; why: string };

export type Verb = "get" | "list" | "watch" | "create";

export type Command = {
  /** One word, or two where the first is what it is about, e.g. `segment explain`. */
  name: string;
  /** One line, subject left out: what it does. */
  summary: string;
  /** What follows the name, e.g. `[APP]`; empty when nothing does. */
  operands: string;
  mostOperands: number;
  /** More about it, for its own help. */
  details: string;
  options: Record<string, Option>;
  examples: readonly { line: string; says: string }[];
  /** What its exit codes say, beside those of every command. */
  exits: { 0: string; 1: string };
  permissions: readonly Permission[];
  /** Loads what it does: the help of all commands needs none of it. */
  load: () => Promise<Run>;
};

export type Given = {
  operands: readonly string[];
  options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
};

/** The terminal that people read on; null when a program or a file gets what is printed. */
export type Terminal = { columns: number; hasColours: boolean } | null;

/** Where a command reads and writes. */
export type Tools = {
  /** The cluster that the options name. @throws UsageError when there is no usable kubeconfig */
  cluster: () => Cluster;
  out: (text: string) => void;
  err: (text: string) => void;
  /** All of stdin, which is cut off with a {@link UsageError} where it has no end. */
  stdin: () => Promise<string>;
  terminal: Terminal;
  /** Aborted by Ctrl+C. */
  signal: AbortSignal;
  now: () => Date;
};

/** Resolves with 0 when all is well and 1 when what was asked about is not. */
export type Run = (given: Given, tools: Tools) => Promise<0 | 1>;

export const commonOptions = {
  namespace: { type: "string", short: "n", value: "NAME", description: "the namespace; the context's when left out" },
  "all-namespaces": { type: "boolean", short: "A", description: "every namespace" },
  context: { type: "string", value: "NAME", description: "another context of the kubeconfig than its current one" },
  kubeconfig: {
    type: "string",
    value: "FILE",
    description: "the kubeconfig; $KUBECONFIG or ~/.kube/config when left out",
  },
  help: { type: "boolean", short: "h", description: "say how the command is used" },
} as const satisfies Record<string, Option>;

/** What every command's exit codes say beside its own. */
export const commonExits = {
  2: "the command was used wrongly",
  3: "the cluster or the REST interface did not answer, or refused",
  130: "interrupted",
} as const;
