import { type Cluster, eventually, type KubeObject } from "./cluster.ts";
import type { Environment } from "./environment.ts";

/** Volumes that tests bring along, where the cluster makes none by itself. */
export type Volumes = {
  /** Name of their class; empty: the cluster's default makes volumes. */
  storageClass: string;
  remove: () => Promise<void>;
};

/** Sees to it that claims get volumes: `perNode` folders on each node, unless the cluster's default class makes them. */
export const prepareVolumes = async (cluster: Cluster, { images }: Environment, perNode: number): Promise<Volumes> => {
  if (await hasProvisioner(cluster)) return { storageClass: "", remove: async () => undefined };
  const image = `${images.repository}:${images.tags[0]}`;
  const nodes = (await cluster.nodes()).map(({ metadata }) => metadata.name);
  await onEach(
    cluster,
    nodes,
    image,
    `rmSync(at, recursive); for (let n = 0; n < ${perNode}; n++) mkdirSync(at + "/" + n, recursive);`,
  );
  const items = [classObject, ...nodes.flatMap((node) => Array.from({ length: perNode }, (_, n) => volume(node, n)))];
  await cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items }) });
  return {
    storageClass: className,
    remove: async () => {
      await cluster.kubectl(["delete", "persistentvolumes,storageclasses", "--selector", `${label}=true`]);
      await onEach(cluster, nodes, image, "rmSync(at, recursive);");
    },
  };
};

const className = "herald-e2e";
const label = "herald-e2e";
const folder = "/var/tmp/herald-e2e";

const hasProvisioner = async (cluster: Cluster): Promise<boolean> => {
  const classes = (await cluster.list(["storageclasses"])) as StorageClass[];
  return classes.some(
    ({ metadata, provisioner }) =>
      metadata.annotations?.["storageclass.kubernetes.io/is-default-class"] === "true" &&
      provisioner !== "kubernetes.io/no-provisioner",
  );
};

type StorageClass = KubeObject & { provisioner: string; metadata: { annotations?: Record<string, string> } };

const classObject = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: className, labels: { [label]: "true" } },
  provisioner: "kubernetes.io/no-provisioner",
  volumeBindingMode: "WaitForFirstConsumer",
};

/** Unlike `hostPath`, `local` heeds fsGroup. */
const volume = (node: string, n: number): object => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: `${className}-${node}-${n}`, labels: { [label]: "true" } },
  spec: {
    capacity: { storage: "10Gi" },
    accessModes: ["ReadWriteOnce"],
    storageClassName: className,
    persistentVolumeReclaimPolicy: "Retain",
    local: { path: `${folder}/${node}/${n}` },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] }],
      },
    },
  },
});

/** Runs JavaScript as root on each node, over the folder `at` of the node's own. */
const onEach = async (cluster: Cluster, nodes: readonly string[], image: string, script: string): Promise<void> => {
  const pods = nodes.map((node) => podOn(node, image, script));
  const named = ["--namespace", "kube-system", "--selector", `${label}=true`];
  await cluster.kubectl(["delete", "pods", ...named]); // of a run that was killed
  await cluster.kubectl(["apply", "-f", "-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items: pods }),
  });
  await eventually("folders for volumes on each node", 120_000, async () => {
    const phases = (await cluster.list(["pods", ...named])).map(({ status }) => status.phase);
    if (phases.includes("Failed")) throw new Error("the folders for volumes could not be made");
    return phases.every((phase) => phase === "Succeeded") ? true : null;
  });
  await cluster.kubectl(["delete", "pods", ...named]);
};

const podOn = (node: string, image: string, script: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `${className}-${node}`, namespace: "kube-system", labels: { [label]: "true" } },
  spec: {
    nodeName: node,
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    tolerations: [{ operator: "Exists" }],
    securityContext: { runAsUser: 0 },
    containers: [
      {
        name: "folders",
        image,
        imagePullPolicy: "IfNotPresent",
        args: [
          "--eval",
          `const { mkdirSync, rmSync } = require("node:fs");
           const at = "/volumes/${node}", recursive = { recursive: true, force: true }; ${script}`,
        ],
        volumeMounts: [{ name: "volumes", mountPath: "/volumes" }],
      },
    ],
    volumes: [{ name: "volumes", hostPath: { path: folder, type: "DirectoryOrCreate" } }],
  },
});
