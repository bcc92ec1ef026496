import type { Cluster } from "./cluster.ts";

/** A disk of a node, in memory, that can become as small as what is on it. */
export type Disk = {
  /** From now on not one byte more fits. */
  fill: () => Promise<void>;
  free: () => Promise<void>;
};

const size = "8g"; // JetStream reserves up to three quarters; only what is written takes memory

/** Mounts a disk in each of these folders of a node. */
export const mountDisks = (cluster: Cluster, number: number, folders: readonly string[]): Promise<void> =>
  onNode(
    cluster,
    number,
    `for folder; do
       mkdir -p "$folder"
       mount -t tmpfs -o size=${size},mode=0755 tmpfs "$folder"
     done`,
    ...folders,
  );

/** Takes the disks below a folder away with what is on them, and the folder. */
export const unmountDisks = (cluster: Cluster, number: number, folder: string): Promise<void> =>
  onNode(
    cluster,
    number,
    `grep --only-matching " $1/[^ ]*" /proc/mounts | xargs --no-run-if-empty umount --lazy
     rm -rf "$1"`,
    folder,
  );

export const diskAt = (cluster: Cluster, { number, path }: { number: number; path: string }): Disk => ({
  fill: () => onNode(cluster, number, shrink, path),
  free: () => onNode(cluster, number, `mount -o remount,size=${size} "$1"`, path),
});

/** Fails while more is on it than was counted, as something was written meanwhile. */
const shrink = `
  for n in $(seq 100); do
    set -- "$1" $(stat --file-system --format '%b %f %S' "$1")
    if mount -o remount,size=$((($2 - $3) * $4)) "$1"; then exit 0; fi
  done
  echo "$1 is written to faster than it can be made smaller" >&2
  exit 1`;

const onNode = async (cluster: Cluster, number: number, script: string, ...paths: string[]): Promise<void> => {
  await cluster.toNode("exec", number, ["sh", "-euc", script, "sh", ...paths]);
};
