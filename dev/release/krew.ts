import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { pluginName } from "../bundle/kubectl-plugin.ts";
import { rootDir } from "../files/paths.ts";
import { sameEverywhere } from "./layers.ts";

export type KrewOptions = {
  version: string;
  /** A folder for what is not part of the release. */
  work: string;
  epochSeconds: number;
  /** Where the files of this release can be downloaded from: a URL; null when nobody has said. */
  downloads: string | null;
};

/**
 * Packs `kubectl herald` as krew, the package manager of kubectl's plugins, installs it, and writes the manifest that
 * names the archive, unless nobody has said where that will be. Source: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
 */
export const writeKrew = async (folder: string, options: KrewOptions): Promise<void> => {
  const { version, work, epochSeconds, downloads } = options;
  const [content, archive] = [join(work, "krew"), `${pluginName}-${version}.tar.gz`];
  await mkdir(content, { recursive: true });
  await copyFile(join(folder, pluginName), join(content, pluginName));
  await copyFile(join(rootDir, "LICENSE"), join(content, "LICENSE"));
  const packing = [
    ...sameEverywhere,
    `--mtime=@${epochSeconds}`,
    "--gzip",
    "--create",
    "--file",
    join(folder, archive),
  ];
  execFileSync("tar", [...packing, "--directory", content, pluginName, "LICENSE"], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (downloads === null) return;
  const sha256 = createHash("sha256")
    .update(await readFile(join(folder, archive)))
    .digest("hex");
  const uri = `${downloads.replace(/\/$/, "")}/${archive}`;
  await writeFile(join(folder, "herald.yaml"), stringify(manifestOf(version, { uri, sha256 })));
};

const manifestOf = (version: string, archive: { uri: string; sha256: string }) => ({
  apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
  kind: "Plugin",
  metadata: { name: "herald" },
  spec: {
    version: `v${version}`,
    shortDescription: "Watch, check and use Herald, a messaging service",
    description:
      "Shows how Herald is doing on a cluster, checks its resources before they are applied, says why a message did not\n" +
      "arrive, and sends, with the rights that you have on the cluster.\n",
    caveats: "It needs Node.js 24 on the PATH.\n",
    platforms: [
      {
        selector: { matchExpressions: [{ key: "os", operator: "In", values: ["linux", "darwin"] }] },
        ...archive,
        files: [pluginName, "LICENSE"].map((from) => ({ from, to: "." })),
        bin: pluginName,
      },
    ],
  },
});
