import { setTimeout as sleep } from "node:timers/promises";
import { attempt, type CommandOptions, command, type Outcome } from "../../../../dev/processes/run-command.ts";
import { limitOf } from "../../../support/suite/slowness.ts";
import type { Environment, NodeVerb } from "./environment.ts";

/** An object as the Kubernetes API gives it, as far as the tests read it. */
export type KubeObject = {
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    labels?: Record<string, string>;
    creationTimestamp: string;
    deletionTimestamp?: string;
  };
  spec: { nodeName?: string; holderIdentity?: string; acquireTime?: string; replicas?: number; volumeName?: string };
  status: {
    phase?: string;
    podIP?: string;
    conditions?: { type: string; status: string; reason: string; message: string }[];
    addresses?: { type: string; address: string }[];
    readyReplicas?: number;
    desiredReplicas?: number;
    currentReplicas?: number;
    disruptionsAllowed?: number;
  };
  data?: Record<string, string>;
};

export type Cluster = ReturnType<typeof clusterOf>;

/** kubectl and what tests ask of a cluster. */
export const clusterOf = ({ kubectl: program, nodeCommands }: Pick<Environment, "kubectl" | "nodeCommands">) => {
  const kubectl = (args: readonly string[], options?: CommandOptions) => command([program, ...args], options);
  const list = async (args: readonly string[]): Promise<KubeObject[]> =>
    (JSON.parse(await kubectl(["get", "--output", "json", ...args])) as { items: KubeObject[] }).items;
  const nodes = async (): Promise<KubeObject[]> =>
    (await list(["nodes"])).sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
  return {
    kubectl,
    /** Like `kubectl`, for what may fail. */
    tryKubectl: (args: readonly string[], options?: CommandOptions): Promise<Outcome> =>
      attempt([program, ...args], options),
    get: async (args: readonly string[]): Promise<KubeObject> =>
      JSON.parse(await kubectl(["get", "--output", "json", ...args])) as KubeObject,
    list,
    /** By name: the control plane is the first. */
    nodes,
    can: (...verbs: NodeVerb[]): boolean => verbs.every((verb) => nodeCommands[verb] !== undefined),
    /** Does something to the node of this number, `exec` with the words of a command; when that began, by `performance.now()`. */
    toNode: async (verb: NodeVerb, number: number, words: readonly string[] = []): Promise<number> => {
      const name = (await nodes())[number]?.metadata.name ?? "";
      const env = { NODE_NUMBER: String(number), NODE_NAME: name };
      const beganMs = performance.now();
      await command(["sh", "-c", `${nodeCommands[verb] ?? "false"} "$@"`, verb, ...words], { env });
      return beganMs;
    },
  };
};

/** Waits until something is there; says what was missing when the time is over. */
export const eventually = async <T>(what: string, withinMs: number, read: () => Promise<T | null>): Promise<T> => {
  const beganMs = performance.now();
  const isOver = limitOf(withinMs);
  for (;;) {
    const answer = await read();
    if (answer !== null) return answer;
    const passedMs = performance.now() - beganMs;
    if (isOver(passedMs)) throw new Error(`after ${Math.round(passedMs / 1000)} s still not: ${what}`);
    await sleep(pollMs);
  }
};

const pollMs = 250;

export const isReady = ({ metadata, status }: KubeObject): boolean =>
  metadata.deletionTimestamp === undefined &&
  status.conditions?.find(({ type }) => type === "Ready")?.status === "True";
