import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { nodeEnvironment, nodeFlags } from "../processes/programs.ts";
import { packagesRoot, programsRoot } from "./app-root.ts";
import { type DebianPackage, debianRoot } from "./debian-root.ts";
import { type Layer, packLayer } from "./layers.ts";
import { type NodePackage, nodeRoot } from "./node-root.ts";
import { type Architecture, architectures, type ImageConfig, type PlatformImage, writeLayout } from "./oci-layout.ts";

/** An image and what was put into it that is not the repository's. */
export type Image = { digest: string; debian: DebianPackage[]; node: NodePackage[] };

/**
 * Makes the image of the three programs for each processor in `folder`, as an OCI image layout, without a container engine.
 * The same commit and the same packages of Debian give the same digest. `work` is for what is unpacked on the way.
 */
export const makeImage = async (
  folder: string,
  { work, version, revision, epochSeconds }: { work: string; version: string; revision: string; epochSeconds: number },
): Promise<Image> => {
  const blobs = join(folder, "blobs/sha256");
  const layerOf = async (name: string, fill: (root: string) => Promise<void>): Promise<Layer> => {
    const root = join(work, name, "root");
    await rm(join(work, name), { recursive: true, force: true });
    await mkdir(root, { recursive: true });
    await fill(root);
    return packLayer(root, blobs, epochSeconds);
  };
  const made: Image = { digest: "", debian: [], node: [] };
  const below = async (architecture: Architecture): Promise<Layer[]> => [
    await layerOf(`debian-${architecture}`, async (root) => {
      made.debian.push(...(await debianRoot(architecture, { root, work: join(work, `debian-${architecture}`) })));
    }),
    await layerOf(`node-${architecture}`, async (root) => {
      made.node.push(await nodeRoot(architecture, { root, work: join(work, `node-${architecture}`) }));
    }),
  ];
  const programs = await layerOf("programs", programsRoot);
  const packages = await layerOf("packages", (root) => packagesRoot(root, join(work, "programs/root")));
  const images: PlatformImage[] = [];
  for (const architecture of architectures)
    images.push({ architecture, layers: [...(await below(architecture)), packages, programs] });
  const created = new Date(epochSeconds * 1000).toISOString();
  made.digest = await writeLayout(folder, { images, config: imageConfig(version, revision), created });
  return made;
};

/** How containers of the image are started, as the Dockerfile has it: a test compares the two. */
export const imageConfig = (version: string, revision: string): ImageConfig => ({
  User: "65532:65532",
  WorkingDir: "/app",
  Env: ["PATH=/usr/bin", "NODE_ENV=production", ...Object.entries(nodeEnvironment).map((pair) => pair.join("="))],
  Entrypoint: ["node", ...nodeFlags],
  Cmd: ["apiserver.js"],
  ExposedPorts: { "8080/tcp": {}, "9090/tcp": {} },
  StopSignal: "SIGTERM",
  Labels: {
    "org.opencontainers.image.title": "herald",
    "org.opencontainers.image.description": "Self-hosted, multi-tenant, multi-channel messaging service",
    "org.opencontainers.image.licenses": "Apache-2.0",
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.revision": revision,
  },
});
