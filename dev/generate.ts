import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { argocdFiles } from "./generators/argocd.ts";
import { artifactHub } from "./generators/chart/artifact-hub.ts";
import { chartCrds } from "./generators/chart/crds.ts";
import { chartKinds } from "./generators/chart/kinds.ts";
import { chartSchema } from "./generators/chart/schema.ts";
import { crdFiles } from "./generators/crds.ts";
import { dashboards } from "./generators/dashboards/all.ts";
import { eventsPage } from "./generators/events-page.ts";
import { fluxFiles } from "./generators/flux.ts";
import type { GeneratedFile } from "./generators/generated-file.ts";
import { kubectlPage } from "./generators/kubectl-page.ts";
import { openapiFile } from "./generators/openapi.ts";
import { filtersPage } from "./generators/reference/filters-page.ts";
import { operationsPage } from "./generators/reference/operations-page.ts";
import { shardingPage } from "./generators/reference/sharding-page.ts";
import { referenceTables } from "./generators/reference/tables.ts";
import { resourcePages } from "./generators/resource-pages.ts";
import { settingsPage } from "./generators/settings-page.ts";
import { webClient } from "./generators/web-client.ts";

/** Everything that is generated: `make generate` writes it, `--check` says what is stale. */
const generators: readonly (() => GeneratedFile[])[] = [
  crdFiles,
  resourcePages,
  openapiFile,
  operationsPage,
  filtersPage,
  shardingPage,
  referenceTables,
  settingsPage,
  kubectlPage,
  eventsPage,
  chartCrds,
  chartKinds,
  chartSchema,
  artifactHub,
  dashboards,
  argocdFiles,
  fluxFiles,
  webClient,
];

const root = join(import.meta.dirname, "..");

const generate = async (isCheck: boolean): Promise<number> => {
  const files = generators.flatMap((make) => make());
  const states = await Promise.all(
    files.map(async (file) => ({ file, isFresh: (await current(file.path)) === file.text })),
  );
  const stale = states.filter(({ isFresh }) => !isFresh).map(({ file }) => file);
  if (!isCheck) await Promise.all(stale.map(write));
  for (const { path } of stale) console.log(isCheck ? `${path} is stale: run make generate` : `wrote ${path}`);
  if (stale.length === 0) console.log(`all ${files.length} generated files are fresh`);
  else if (!isCheck) console.log("next: make check, and commit them with what they were made from");
  return isCheck && stale.length > 0 ? 1 : 0;
};

const current = (path: string): Promise<string | null> => readFile(join(root, path), "utf8").catch(() => null);

const write = async ({ path, text }: GeneratedFile): Promise<void> => {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
};

process.exitCode = await generate(process.argv.includes("--check"));
