import { findTool } from "../../../../dev/files/find-tool.ts";

/** What `make e2e` tells the tests. */
export type Environment = {
  kubectl: string;
  helm: string;
  /** The address under which pods reach this machine. */
  host: string;
  dir: string;
  portBase: number;
  /** Two names of the image. */
  images: { repository: string; tags: readonly [string, string] };
  nodeCommands: Readonly<Partial<Record<NodeVerb, string>>>;
};

/** What can be done to a node: cable out and in, power off and on, a command run as root. */
export type NodeVerb = "cut" | "heal" | "stop" | "start" | "exec";

export const readEnvironment = (env: NodeJS.ProcessEnv): Environment => {
  const given = (name: string): string => {
    const value = env[name];
    if (!value) throw new Error(`${name} is not set: these tests are run by make e2e`);
    return value;
  };
  const names = given("E2E_IMAGES").split(" ");
  const [first = "", second = ""] = names.map((name) => name.split(":")[1]);
  const verbs = ["cut", "heal", "stop", "start", "exec"] as const;
  return {
    kubectl: tool("kubectl"),
    helm: tool("helm"),
    host: given("E2E_HOST"),
    dir: given("E2E_DIR"),
    portBase: Number(given("E2E_PORT_BASE")),
    images: { repository: names[0]?.split(":")[0] ?? "", tags: [first, second] },
    nodeCommands: Object.fromEntries(
      verbs.flatMap((verb) => {
        const words = env[`E2E_NODE_${verb.toUpperCase()}`];
        return words ? [[verb, words]] : [];
      }),
    ),
  };
};

const tool = (name: string): string => {
  const path = findTool(name);
  if (path === null) throw new Error(`${name} is missing`);
  return path;
};
