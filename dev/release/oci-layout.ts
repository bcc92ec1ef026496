import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Layer } from "./layers.ts";

/** The processors that images are made for, by their names in OCI, in Debian and in Node's packages. */
export const architectures = ["amd64", "arm64"] as const;
export type Architecture = (typeof architectures)[number];

/** What a container of the image is started with. */
export type ImageConfig = {
  User: string;
  WorkingDir: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  ExposedPorts: Record<string, object>;
  StopSignal: string;
  Labels: Record<string, string>;
};

/** The image of one processor: its layers from below upwards. */
export type PlatformImage = { architecture: Architecture; layers: readonly Layer[] };

/**
 * Writes an image for several processors as an OCI image layout, whose blobs hold the layers already; gives the digest of
 * its index. See https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md.
 */
export const writeLayout = async (
  folder: string,
  { images, config, created }: { images: readonly PlatformImage[]; config: ImageConfig; created: string },
): Promise<string> => {
  const blobs = join(folder, "blobs/sha256");
  await mkdir(blobs, { recursive: true });
  const manifests: Descriptor[] = [];
  for (const { architecture, layers } of images) {
    const image = { created, architecture, os: "linux", config, rootfs: rootOf(layers) };
    const manifest = {
      schemaVersion: 2,
      mediaType: types.manifest,
      config: await writeBlob(blobs, types.config, image),
      layers: layers.map(({ digest, size }) => ({ mediaType: types.layer, digest, size })),
    };
    const platform = { architecture, os: "linux" };
    manifests.push({ ...(await writeBlob(blobs, types.manifest, manifest)), platform });
  }
  const index = await writeBlob(blobs, types.index, { schemaVersion: 2, mediaType: types.index, manifests });
  await writeFile(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  await writeFile(join(folder, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [index] }));
  return index.digest;
};

const prefix = "application/vnd.oci.image";
const types = {
  index: `${prefix}.index.v1+json`,
  manifest: `${prefix}.manifest.v1+json`,
  config: `${prefix}.config.v1+json`,
  layer: `${prefix}.layer.v1.tar+gzip`,
} as const;

type Descriptor = { mediaType: string; digest: string; size: number; platform?: object };

const rootOf = (layers: readonly Layer[]) => ({ type: "layers", diff_ids: layers.map(({ diffId }) => diffId) });

const writeBlob = async (blobs: string, mediaType: string, content: object): Promise<Descriptor> => {
  const text = JSON.stringify(content);
  const hex = createHash("sha256").update(text).digest("hex");
  await writeFile(join(blobs, hex), text);
  return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
};
