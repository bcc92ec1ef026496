import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { debianDir } from "../files/paths.ts";
import { inDebian } from "../servers/debian.ts";
import { settings } from "../servers/postgres.ts";
import { command } from "./progress.ts";
import { makeTemplate } from "./template.ts";

/** The first Debian release that has DocumentDB's extension. */
const suite = "forky";
const log = "install-postgres";

/** Whether the root folder with PostgreSQL is there, whole and of today's recipe. */
export const isPostgresInstalled = (): boolean =>
  existsSync(recipePath(debianDir)) && readFileSync(recipePath(debianDir), "utf8") === recipe();

/** Makes the root folder with PostgreSQL, DocumentDB and the template of a data folder; in place only when complete. */
export const installPostgres = async (): Promise<void> => {
  const isLink = lstatSync(debianDir, { throwIfNoEntry: false })?.isSymbolicLink();
  const place = isLink ? readlinkSync(debianDir) : debianDir;
  const root = `${place}.new`;
  await rm(root, { recursive: true, force: true }); // of a run that was cut short
  await mkdir(root, { recursive: true });
  await debootstrap(root);
  await configure(root);
  await inNamespaces(inDebian({ root, command: ["sh", "-ec", installPackages] }));
  await makeTemplate(root);
  await writeFile(recipePath(root), recipe());
  await rm(place, { recursive: true, force: true });
  await rename(root, place);
};

/** Installs packages of the machine's own Debian. Never tied: a package manager that is killed leaves a mess. */
export const aptInstall = async (packages: readonly string[]): Promise<void> => {
  const options = { log: "apt", tied: false, env: { DEBIAN_FRONTEND: "noninteractive" } };
  const apt = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=300", "--no-install-recommends"];
  await command(["dpkg", "--configure", "-a"], options); // a run before this one may have been cut short
  await command([...apt, "update"], options).catch(() => undefined); // another source's failure may not matter to us
  await command([...apt, "install", ...packages], options);
};

const recipePath = (root: string): string => join(root, ".recipe");

const recipe = (): string =>
  createHash("sha256")
    .update(JSON.stringify([suite, installPackages, settings]))
    .digest("hex");

/** Runs in namespaces that end with the command: no mount and no process of it can be left behind. */
const inNamespaces = (words: string[]): Promise<void> =>
  command(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--", ...words], { log });

const debootstrap = (root: string): Promise<void> => {
  const script = "/usr/share/debootstrap/scripts/sid"; // Debian 12's debootstrap does not know the release by name
  return inNamespaces(["debootstrap", "--variant=minbase", suite, root, debianMirror(), script]);
};

/** The mirror that the machine itself uses. */
export const debianMirror = (): string => {
  const format = ["--format", "$(ORIGIN) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"];
  const lines = execFileSync("apt-get", ["indextargets", ...format], { encoding: "utf8" });
  const uri = /^Debian main (\S+\/debian\/?)$/m.exec(lines)?.[1];
  return uri ?? "http://deb.debian.org/debian";
};

const configure = async (root: string): Promise<void> => {
  const unused = ["doc", "man", "locale", "info"].map((dir) => `path-exclude=/usr/share/${dir}/*`);
  await writeFile(join(root, "etc/dpkg/dpkg.cfg.d/herald"), ["force-unsafe-io", ...unused, ""].join("\n"));
  await mkdir(join(root, "etc/postgresql-common"), { recursive: true });
  await writeFile(join(root, "etc/postgresql-common/createcluster.conf"), "create_main_cluster = false\n");
};

const installPackages = `
  export DEBIAN_FRONTEND=noninteractive
  apt-get -q -o Acquire::Check-Valid-Until=false update
  apt-get -q -y --no-install-recommends -o DPkg::Options::=--force-confold install postgresql-18-documentdb
  rm -rf /var/cache/apt/archives /var/lib/apt/lists
`;
