import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseDocument, stringify } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import { customResourceDefinition } from "#core/schema/kubernetes/crd.ts";
import { rootDir } from "../files/paths.ts";
import { command } from "../install/progress.ts";
import { tool } from "./tool.ts";

/** An image as values of the chart name it; a digest goes before a tag. */
export type ImageAddress = { registry: string; repository: string; digest: string };

/** Packs the chart with the release's version, and the image's address where there is one; gives the path of the archive. */
export const packChart = async (
  folder: string,
  { work, version, image }: { work: string; version: string; image: ImageAddress | null },
): Promise<string> => {
  const copy = join(work, "chart/herald");
  await rm(copy, { recursive: true, force: true });
  await mkdir(join(work, "chart"), { recursive: true });
  await cp(join(rootDir, "charts/herald"), copy, { recursive: true });
  if (image !== null) await nameImage(join(copy, "values.yaml"), image);
  const flags = ["--version", version, "--app-version", version, "--destination", join(work, "chart")];
  await command([tool("helm"), "package", copy, ...flags], { log: "release" });
  const name = `herald-${version}.tgz`;
  await rename(join(work, "chart", name), join(folder, name));
  return join(folder, name);
};

/** Writes the CustomResourceDefinitions of every kind into one file, for those who install them apart from the chart. */
export const writeDefinitions = (file: string): Promise<void> =>
  writeFile(
    file,
    allResources
      .map((kind) => stringify(customResourceDefinition(kind), { lineWidth: 0, aliasDuplicateObjects: false }))
      .join("---\n"),
  );

/** The rest of the file stays as it is, comments included. */
const nameImage = async (file: string, { registry, repository, digest }: ImageAddress): Promise<void> => {
  const values = parseDocument(await readFile(file, "utf8"));
  for (const [name, value] of Object.entries({ registry, repository, digest })) values.setIn(["image", name], value);
  await writeFile(file, values.toString({ lineWidth: 0 }));
};
