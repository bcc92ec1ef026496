import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bin, debianDir, rootDir } from "../files/paths.ts";
import { command } from "../install/progress.ts";

/** Images of the chart's bundled stores, by the store; `postgres` keeps MongoDB's data. */
export const storeImages = {
  mongodb: "herald-e2e/mongodb:1",
  postgres: "herald-e2e/postgres:1",
  nats: "herald-e2e/nats:1",
  redis: "herald-e2e/redis:1",
} as const;

/**
 * Makes the images of the bundled stores from the servers that `make install` has built, and keeps them in an archive:
 * the chart's own images cannot be fetched wherever the tests run.
 */
export const buildStoreImages = async ({ engine, dir, archive, flags }: StoreImagesOptions): Promise<void> => {
  const context = join(dir, "stores-image");
  await gather(context);
  const base = await importDebian(engine);
  const options = [...flags, "--build-arg", `base=${base}`, "--file", join(recipe, "Dockerfile")];
  for (const [store, name] of Object.entries(storeImages)) {
    const target = ["--target", store, "--tag", name];
    await command([engine, "build", ...options, ...target, context], { log: "image", env: { DOCKER_BUILDKIT: "1" } });
  }
  rmSync(archive, { force: true });
  await command([engine, "save", "--output", archive, ...Object.values(storeImages)], { log: "image" });
};

export type StoreImagesOptions = {
  engine: string;
  dir: string;
  archive: string;
  /** Options of `build` that this machine asks for. */
  flags: readonly string[];
};

const recipe = join(rootDir, "dev/e2e/stores");

/** What the Dockerfile copies. Redis is Debian's own: its libraries come along. */
const gather = async (context: string): Promise<void> => {
  rmSync(context, { recursive: true, force: true });
  mkdirSync(join(context, "redis"), { recursive: true });
  for (const name of ["ferretdb", "nats-server"]) copyFileSync(bin(name), join(context, name));
  copyFileSync(join(recipe, "docker-entrypoint.sh"), join(context, "docker-entrypoint.sh"));
  copyFileSync(bin("redis-server"), join(context, "redis/redis-server"));
  await copyLibraries(bin("redis-server"), join(context, "redis"));
};

/** Copies the libraries that a program of Debian's needs into a folder, at their paths. */
export const copyLibraries = async (program: string, folder: string): Promise<void> => {
  const copying = `cp --parents --dereference $(ldd "$0" | grep --only-matching '/[^ ]*') "$1"`;
  await command(["sh", "-ec", copying, program, folder], { log: "image" });
};

/** What PostgreSQL does not need of its Debian, a third of it. */
const left = ["doc", "i18n", "locale", "man", "perl", "perl5"].map((name) => `./usr/share/${name}/*`);
const excluded = [...left, "./dev/*", "./proc/*", "./var/cache/*", "./var/lib/dpkg/*", "./var/lib/postgres-template"];

/** The root folder with PostgreSQL as an image, imported again only when it has changed. */
const importDebian = async (engine: string): Promise<string> => {
  const made = readFileSync(join(debianDir, ".recipe"), "utf8");
  const key = createHash("sha256")
    .update(JSON.stringify([made, excluded]))
    .digest("hex")
    .slice(0, 12);
  const name = `herald-e2e-debian:${key}`;
  const script = `"$0" image inspect "$1" >/dev/null 2>&1 || tar --create --directory "$2/" ${excluded
    .map((path) => `--exclude='${path}'`)
    .join(" ")} . | "$0" import - "$1"`;
  await command(["bash", "-euo", "pipefail", "-c", script, engine, name, debianDir], { log: "image" });
  return name;
};
