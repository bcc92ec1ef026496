import { mkdir, mkdtemp, rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { testDir } from "../../../dev/files/paths.ts";
import { attempt, command } from "../../../dev/processes/run-command.ts";

/** A disk of a test's own, in memory, that can become as small as what is on it. */
export type SmallDisk = {
  path: string;
  /** From now on not one byte more fits. */
  fill: () => Promise<void>;
  free: () => Promise<void>;
  remove: () => Promise<void>;
};

const size = "8g"; // JetStream reserves up to three quarters; only what is written takes memory

/** Mounts one. Needs the rights of root, as the folder of PostgreSQL does. */
export const smallDisk = async (): Promise<SmallDisk> => {
  await mkdir(testDir, { recursive: true });
  const path = await mkdtemp(join(testDir, "disk-"));
  await command(["mount", "-t", "tmpfs", "-o", `size=${size},mode=0755`, "tmpfs", path]);
  const resize = (to: string) => attempt(["mount", "-o", `remount,size=${to}`, path]);
  const shrink = async (): Promise<boolean> => {
    const { bsize, blocks, bfree } = await statfs(path);
    return (await resize(String((blocks - bfree) * bsize))).code === 0; // not when more was written meanwhile
  };
  const mostTries = 100;
  return {
    path,
    fill: async () => {
      for (let n = 0; n < mostTries; n++) if (await shrink()) return;
      throw new Error(`${path} is written to faster than it can be made smaller`);
    },
    free: async () => {
      await resize(size);
    },
    remove: async () => {
      await command(["umount", "--lazy", path]);
      await rm(path, { recursive: true, force: true });
    },
  };
};
