import type { Cluster, KubeObject } from "./cluster.ts";
import { type Disk, diskAt, mountDisks, unmountDisks } from "./disks.ts";

/** What claims of the release get. */
export type Volumes = {
  /** Name of their class; empty: the cluster's default makes volumes. */
  storageClass: string;
  /** The disk behind a claim; null when the cluster made its volume. */
  diskOf: ((namespace: string, claim: string) => Promise<Disk>) | null;
  /** Has empty volumes again, after the claims have gone. */
  renew: () => Promise<void>;
  remove: () => Promise<void>;
};

/**
 * Sees to it that claims get volumes: `perNode` disks of the tests' own on each node, or what the cluster's default class
 * makes. Null when neither can be had.
 */
export const prepareVolumes = async (cluster: Cluster, perNode: number): Promise<Volumes | null> => {
  if (cluster.can("exec")) return ownVolumes(cluster, perNode);
  const done = async (): Promise<void> => undefined;
  return (await hasProvisioner(cluster)) ? { storageClass: "", diskOf: null, renew: done, remove: done } : null;
};

const className = "herald-e2e";
const label = "herald-e2e";
const folder = "/var/tmp/herald-e2e";

const ownVolumes = async (cluster: Cluster, perNode: number): Promise<Volumes> => {
  const nodes = (await cluster.nodes()).map(({ metadata }) => metadata.name);
  const volumes = nodes.flatMap((node, number) =>
    Array.from({ length: perNode }, (_, n) => ({
      name: `${className}-${node}-${n}`,
      node,
      number,
      path: `${folder}/${node}/${n}`,
    })),
  );
  const make = async (): Promise<void> => {
    for (const number of nodes.keys()) {
      const own = volumes.filter((volume) => volume.number === number);
      await mountDisks(
        cluster,
        number,
        own.map(({ path }) => path),
      );
    }
    const items = [classObject, ...volumes.map(volumeObject)];
    await cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items }) });
  };
  const remove = async (): Promise<void> => {
    await cluster.kubectl(["delete", "persistentvolumes,storageclasses", "--selector", `${label}=true`]);
    for (const [number, node] of nodes.entries()) await unmountDisks(cluster, number, `${folder}/${node}`);
  };
  await remove(); // of a run that was killed
  await make();
  return {
    storageClass: className,
    diskOf: async (namespace, claim) => {
      const { spec } = await cluster.get(["persistentvolumeclaim", claim, "--namespace", namespace]);
      const volume = volumes.find(({ name }) => name === spec.volumeName);
      if (volume === undefined) throw new Error(`${claim} is not on a volume of the tests, but ${spec.volumeName}`);
      return diskAt(cluster, volume);
    },
    renew: async () => {
      await remove();
      await make();
    },
    remove,
  };
};

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
const volumeObject = ({ name, node, path }: { name: string; node: string; path: string }): object => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name, labels: { [label]: "true" } },
  spec: {
    capacity: { storage: "10Gi" },
    accessModes: ["ReadWriteOnce"],
    storageClassName: className,
    persistentVolumeReclaimPolicy: "Retain",
    local: { path },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [node] }] }],
      },
    },
  },
});
