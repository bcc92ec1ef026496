import { type Cluster, eventually } from "./cluster.ts";
import type { Environment } from "./environment.ts";

/** A pod from which connections are tried. */
export type Place = { namespace: string; pod: string };

const probeName = "probe";
const connectMs = 2_000;

/** Runs a pod that does nothing, as Pod Security "restricted" wants it, on the node that stays up. */
export const startProbe = async (cluster: Cluster, { images }: Environment, namespace: string): Promise<Place> => {
  const [node] = await cluster.nodes();
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: probeName, namespace },
    spec: {
      nodeName: node?.metadata.name,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: probeName,
          image: `${images.repository}:${images.tags[0]}`,
          imagePullPolicy: "IfNotPresent",
          args: ["--eval", "setInterval(() => undefined, 1e9)"],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
        },
      ],
    },
  };
  await cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify(pod) });
  await cluster.kubectl(["wait", "pod", probeName, "-n", namespace, "--for=condition=Ready", "--timeout=120s"], {
    timeoutMs: 130_000, // on a busy machine a pod takes a minute to start
  });
  return { namespace, pod: probeName };
};

export const endProbe = async (cluster: Cluster, { namespace, pod }: Place): Promise<void> =>
  void (await cluster.kubectl(["delete", "pod", pod, "--namespace", namespace]));

/** Runs JavaScript in a pod; answers what it printed. */
export const evaluate = (cluster: Cluster, { namespace, pod }: Place, script: string): Promise<string> =>
  cluster.kubectl(["exec", "--namespace", namespace, pod, "--", "node", "--eval", script]);

/** Whether a TCP connection from a pod comes about. */
export const connects = async (cluster: Cluster, from: Place, host: string, port: number): Promise<boolean> => {
  const script = `const s = require("node:net").connect({ host: "${host}", port: ${port}, timeout: ${connectMs} });
    const tell = (word) => { console.log(word); process.exit(0); };
    s.on("connect", () => tell("open")).on("timeout", () => tell("shut")).on("error", () => tell("shut"));`;
  return (await evaluate(cluster, from, script)).trim() === "open";
};

/** Waits until a connection is as it has to be: a policy works a moment after it is there. */
export const becomes = async (
  cluster: Cluster,
  from: Place,
  to: { host: string; port: number; what: string },
  wanted: boolean,
): Promise<void> => {
  const what = `${from.namespace}/${from.pod} ${wanted ? "reaches" : "does not reach"} ${to.what}`;
  await eventually(what, 30_000, async () =>
    (await connects(cluster, from, to.host, to.port)) === wanted ? true : null,
  );
};
