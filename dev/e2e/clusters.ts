import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findTool } from "../files/find-tool.ts";
import { command } from "../install/progress.ts";

const run = promisify(execFile);

/** A cluster to test on, and how to reach into it. */
export type Cluster = {
  kubeconfig: string;
  /** A command that takes an image archive as its last word. */
  loadImage: readonly string[];
  /** The address under which pods reach this machine. */
  host: string;
  /** `E2E_NODE_…`: shell commands about the node that NODE_NAME names, the NODE_NUMBERth by name, from 0. */
  nodeCommands: Readonly<Record<string, string>>;
  remove: () => Promise<void>;
};

/** The cluster of the environment; else a new one of kind where an engine runs; else null. */
export const findCluster = async (
  env: NodeJS.ProcessEnv,
  { engine, dir }: { engine: string | null; dir: string },
): Promise<Cluster | null> => {
  if (env["E2E_LOAD_IMAGE"]) return givenCluster(env);
  const kind = findTool("kind");
  return kind === null || engine === null ? null : kindCluster(kind, engine, dir);
};

/** What `make e2e` can run on, for a person who has none. */
export const needs = `make e2e needs a cluster, and a container engine (docker or podman) that builds the image:
  either KUBECONFIG   of a throwaway cluster,
         E2E_LOAD_IMAGE   a command that brings an image archive to its nodes,
         E2E_HOST   the address under which its pods reach this machine,
         and, as they can be had, E2E_NODE_CUT, E2E_NODE_HEAL, E2E_NODE_STOP, E2E_NODE_START, E2E_NODE_EXEC: shell commands
         about the node that NODE_NAME and NODE_NUMBER (by name, from 0) tell, the last with a command to run there as
         root behind it; tests that miss theirs are pending;
  or kind (https://kind.sigs.k8s.io), which makes a cluster of three nodes for the time of the tests.`;

const nodeVariables = ["E2E_NODE_CUT", "E2E_NODE_HEAL", "E2E_NODE_STOP", "E2E_NODE_START", "E2E_NODE_EXEC"] as const;

const givenCluster = (env: NodeJS.ProcessEnv): Cluster => {
  const given = (name: string): string => {
    const value = env[name];
    if (!value) throw new Error(`${name} is missing beside E2E_LOAD_IMAGE\n${needs}`);
    return value;
  };
  return {
    kubeconfig: given("KUBECONFIG"),
    loadImage: given("E2E_LOAD_IMAGE").split(" "),
    host: given("E2E_HOST"),
    nodeCommands: Object.fromEntries(nodeVariables.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
    remove: async () => undefined,
  };
};

const kindName = "herald-e2e";
const kindNodes = `{kind: Cluster, apiVersion: kind.x-k8s.io/v1alpha4,
  nodes: [{role: control-plane}, {role: worker}, {role: worker}]}`;

const kindCluster = async (kind: string, engine: string, dir: string): Promise<Cluster> => {
  const kubeconfig = join(dir, "kubeconfig");
  const named = ["--name", kindName];
  const remove = (): Promise<void> => command([kind, "delete", "cluster", ...named], { log: "kind" });
  await remove(); // what a run that was killed has left
  const create = `printf '%s' '${kindNodes}' | "$0" create cluster --name ${kindName} --kubeconfig "$1" --wait 2m --config -`;
  await command(["sh", "-c", create, kind, kubeconfig], { log: "kind" });
  const gateways = "{{range .IPAM.Config}}{{.Gateway}} {{end}}";
  const { stdout } = await run(engine, ["network", "inspect", "kind", "--format", gateways]);
  const host = stdout.split(/\s/).find((address) => address.includes("."));
  if (host === undefined) throw new Error("kind's network has no IPv4 gateway");
  return {
    kubeconfig,
    loadImage: [kind, "load", "image-archive", ...named],
    host,
    nodeCommands: kindNodeCommands(engine),
    remove,
  };
};

const kindNodeCommands = (engine: string): Record<string, string> => ({
  E2E_NODE_STOP: `${engine} kill "$NODE_NAME"`,
  E2E_NODE_START: `${engine} start "$NODE_NAME"`,
  E2E_NODE_CUT: `${engine} network disconnect kind "$NODE_NAME"`,
  E2E_NODE_HEAL: `${engine} network connect kind "$NODE_NAME"`,
  E2E_NODE_EXEC: `${engine} exec "$NODE_NAME"`,
});
