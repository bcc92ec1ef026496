import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findTool } from "../files/find-tool.ts";
import { rootDir } from "../files/paths.ts";
import { installPrometheus } from "../install/chart-tools.ts";
import { command } from "../install/progress.ts";
import { copyLibraries, type StoreImagesOptions } from "./store-images.ts";

export const prometheusImage = "herald-e2e/prometheus:1";

/** Makes an image of Prometheus, which is installed if need be, and keeps it in an archive. */
export const buildPrometheusImage = async ({ engine, dir, archive, flags }: StoreImagesOptions): Promise<void> => {
  await installPrometheus();
  const program = findTool("prometheus") ?? "prometheus";
  const context = join(dir, "prometheus-image");
  rmSync(context, { recursive: true, force: true });
  mkdirSync(join(context, "libraries"), { recursive: true });
  copyFileSync(program, join(context, "prometheus"));
  await copyLibraries(program, join(context, "libraries"));
  const recipe = ["--file", join(rootDir, "dev/e2e/prometheus/Dockerfile"), "--tag", prometheusImage, context];
  await command([engine, "build", ...flags, ...recipe], { log: "image", env: { DOCKER_BUILDKIT: "1" } });
  rmSync(archive, { force: true });
  await command([engine, "save", "--output", archive, prometheusImage], { log: "image" });
};
