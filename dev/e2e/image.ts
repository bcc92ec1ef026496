import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { findTool } from "../files/find-tool.ts";
import { command } from "../install/progress.ts";

const run = promisify(execFile);
const answersWithinMs = 20_000;

/** Path of a container engine that answers here, or null. */
export const containerEngine = async (): Promise<string | null> => {
  for (const engine of ["docker", "podman"].map((name) => findTool(name))) {
    if (engine !== null && (await answers(engine))) return engine;
  }
  return null;
};

/** Builds the image from the Dockerfile and keeps it in an archive, under all of these names. */
export const buildImage = async ({ engine, names, archive, flags }: ImageOptions): Promise<void> => {
  const tags = names.flatMap((name) => ["--tag", name]);
  await command([engine, "build", ...flags, ...tags, "."], { log: "image", env: { DOCKER_BUILDKIT: "1" } });
  mkdirSync(dirname(archive), { recursive: true });
  rmSync(archive, { force: true });
  await command([engine, "save", "--output", archive, ...names], { log: "image" });
};

export type ImageOptions = {
  engine: string;
  names: readonly string[];
  archive: string;
  /** Options of `build` that this machine asks for. */
  flags: readonly string[];
};

const answers = (engine: string): Promise<boolean> =>
  run(engine, ["info"], { timeout: answersWithinMs }).then(
    () => true,
    () => false,
  );
