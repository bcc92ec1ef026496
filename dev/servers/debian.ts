import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A command to run inside a Debian root folder. `data`: a folder outside it, seen inside as /srv. */
export type InDebian = {
  root: string;
  data?: string;
  asPostgres?: boolean;
  tied?: boolean;
  command: readonly string[];
};

/**
 * The command line that runs a command inside a root folder, in a mount namespace of its own: /dev, /proc and the data
 * folder are mounted for this process alone and are gone with it, so nothing outside can ever be deleted through the
 * root folder. Each step replaces itself by the next: the pid is the command's own.
 */
export const inDebian = ({ root, data, asPostgres = false, tied = false, command }: InDebian): string[] => {
  const enter = ["unshare", "--mount", "sh", "-ec", mountAndEnter, "sh", root, data ?? ""];
  const user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"];
  const tie = tied ? ["--pdeathsig", "KILL"] : []; // changing the user drops an outer one
  return [...enter, ...(asPostgres ? ["setpriv", ...user, ...tie, "--"] : []), ...command];
};

/** User and group id of `postgres` inside the root folder. */
export const postgresIds = (root: string): { uid: number; gid: number } => {
  const line = /^postgres:x:(\d+):(\d+):/m.exec(readFileSync(join(root, "etc/passwd"), "utf8"));
  if (!line) throw new Error(`${root} has no user postgres: remove it and run "make install"`);
  return { uid: Number(line[1]), gid: Number(line[2]) };
};

const mountAndEnter = `
  root=$1; data=$2; shift 2
  mount --bind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount -t proc proc "$root/proc"
  if [ -n "$data" ]; then mount --bind "$data" "$root/srv"; fi
  exec chroot "$root" "$@"
`;
