import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import manifest from "../../package.json" with { type: "json" };
import { bundlePlugin } from "../bundle/kubectl-plugin.ts";
import { devDir, rootDir } from "../files/paths.ts";
import { step } from "../install/progress.ts";
import { billsOf } from "./bills.ts";
import { type ImageAddress, packChart, writeDefinitions } from "./chart.ts";
import { type Image, makeImage } from "./image.ts";
import { writeKrew } from "./krew.ts";
import { writeOlmBundle } from "./olm.ts";
import { provenanceOf } from "./provenance.ts";
import { namesIn, push, type Registry } from "./publish.ts";
import { sign } from "./sign.ts";

/**
 * What a release is made of: its folder, its version (else package.json's), where it goes, the key that signs it, and the
 * address that its files will be downloaded from.
 */
export type ReleaseOptions = {
  to: string;
  version?: string;
  registry: Registry | null;
  key: string | null;
  downloads?: string | null;
};

/**
 * Makes a release of the commit that is checked out: the image, the chart, the kinds, kubectl herald, bills of materials,
 * provenance and checksums; then pushes and signs it where a registry and a key are named. Gives lines for the person who asked.
 */
export const makeRelease = async ({
  to,
  version = manifest.version,
  registry,
  key,
  downloads = null,
}: ReleaseOptions): Promise<string[]> => {
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
    throw new Error(`VERSION is like 1.2.3 or 1.2.3-rc.1, not "${version}"`);
  const commit = commitOf();
  const folder = resolve(to, version);
  const work = join(devDir, "release-work");
  for (const one of [folder, work]) await rm(one, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  let image: Image = { digest: "", debian: [], node: [] };
  await step("the image for amd64 and arm64", async () => {
    image = await makeImage(join(folder, "image"), { work, version, ...commit });
  });
  const chart = await writeRest(folder, { version, work, registry, downloads, image, ...commit });
  await rm(work, { recursive: true, force: true });
  if (registry === null)
    return [`${relative(rootDir, folder) || folder} holds the release; next: REGISTRY=host/path pushes it`];
  let pushed = { image: "", chart: "" };
  await step(`pushing to ${registry.host}/${registry.path}`, async () => {
    pushed = await push(folder, { registry, version, chart });
  });
  if (key !== null) await step("signing", () => sign(key, { ...pushed, folder, version }));
  return [`image ${pushed.image}`, `chart ${pushed.chart}`, installs(registry, version)];
};

const installs = (registry: Registry, version: string): string =>
  `next: helm install herald oci://${namesIn(registry).chart} --version ${version}`;

type Commit = { revision: string; created: string; epochSeconds: number };

/** The commit, and its time, which every file of the release has. */
const commitOf = (): Commit => {
  const [revision = "", seconds = ""] = execFileSync("git", ["log", "-1", "--format=%H %ct"], {
    cwd: rootDir,
    encoding: "utf8",
  })
    .trim()
    .split(" ");
  const epochSeconds = Number(seconds);
  return { revision, epochSeconds, created: new Date(epochSeconds * 1000).toISOString() };
};

/** Everything but the image; gives the path of the chart. */
const writeRest = async (
  folder: string,
  {
    version,
    work,
    registry,
    downloads,
    image,
    ...commit
  }: Commit & { version: string; work: string; registry: Registry | null; downloads: string | null; image: Image },
): Promise<string> => {
  const named = registry && { registry: registry.host, repository: `${registry.path}/herald`, digest: image.digest };
  const chart = await packChart(folder, { work, version, image: named });
  await writeDefinitions(join(folder, `herald-${version}.crds.yaml`));
  await writeOlmBundle(join(folder, "olm"), { version, image: addressOf(named, version), ...commit });
  await bundlePlugin(folder);
  await writeKrew(folder, { version, work, downloads, ...commit });
  const { spdx, cyclonedx } = billsOf(image, commit);
  const documents = { spdx, cyclonedx, provenance: provenanceOf(image, { version, ...commit }) };
  for (const [name, document] of Object.entries(documents))
    await writeFile(join(folder, `herald-${version}.${name}.json`), `${JSON.stringify(document, null, 2)}\n`);
  await writeChecksums(folder);
  return chart;
};

const addressOf = (image: ImageAddress | null, version: string): string =>
  image === null ? `herald:${version}` : `${image.registry}/${image.repository}@${image.digest}`;

/** As `sha256sum --check` reads them. The image has its digests. */
const writeChecksums = async (folder: string): Promise<void> => {
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
  const lines = await Promise.all(
    names.toSorted().map(async (name) => `${await sha256(join(folder, name))}  ${basename(name)}\n`),
  );
  await writeFile(join(folder, "SHA256SUMS"), lines.join(""));
};

const sha256 = async (file: string): Promise<string> => {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
};
