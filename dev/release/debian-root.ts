import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { debianMirror } from "../install/debian.ts";
import { command } from "../install/progress.ts";
import type { Architecture } from "./oci-layout.ts";

/** The Debian release whose libraries the image has, and what of it Node.js needs. */
const suite = "bookworm";
const packages = ["base-files", "ca-certificates", "libc6", "libgcc-s1", "libstdc++6", "netbase", "tzdata"];
/** What nobody reads in a container; copyright files stay. */
const leftOut = [
  "./usr/share/{man,locale,lintian,bug}",
  "./usr/share/doc/*/{changelog,NEWS,README}*",
  "./usr/lib/*/gconv",
];
const log = "release";

/** A package of Debian's that an image holds. */
export type DebianPackage = { name: string; version: string; architecture: string; sha256: string };

/**
 * Makes a root folder of the few Debian packages that Node.js needs, for any architecture, without a container engine and
 * without root's rights over the machine. apt checks their signatures. `work` keeps the lists and the packages.
 */
export const debianRoot = async (
  architecture: Architecture,
  { root, work }: { root: string; work: string },
): Promise<DebianPackage[]> => {
  const files = await download(architecture, work);
  for (const link of ["bin", "lib", "lib64", "sbin"]) {
    await mkdir(join(root, "usr", link), { recursive: true });
    await symlink(`usr/${link}`, join(root, link));
  }
  const found = await Promise.all(files.map(read));
  for (const file of files) await unpack(file, root);
  await mkdir(join(root, "var/lib/dpkg/status.d"), { recursive: true });
  for (const { described, control } of found)
    await writeFile(join(root, "var/lib/dpkg/status.d", described.name), control);
  await writeFiles(root);
  return found.map(({ described }) => described);
};

const download = async (architecture: Architecture, work: string): Promise<string[]> => {
  const [lists, archives] = [join(work, "lists"), join(work, "packages")];
  for (const folder of [join(lists, "partial"), join(work, "archives/partial"), archives])
    await mkdir(folder, { recursive: true });
  await writeFile(join(work, "status"), "");
  await writeFile(join(work, "sources.list"), `deb ${debianMirror()} ${suite} main\n`);
  const options = {
    "APT::Architecture": architecture,
    "APT::Architectures": architecture,
    "APT::Sandbox::User": "root",
    "Dir::State": work,
    "Dir::State::status": join(work, "status"),
    "Dir::State::lists": lists,
    "Dir::Cache": work,
    "Dir::Etc::sourcelist": join(work, "sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    "Acquire::Languages": "none",
  };
  const apt = ["apt-get", "-q", ...Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
  await command([...apt, "update"], { log });
  await command([...apt, "download", ...packages], { log, cwd: archives });
  return globSync("*.deb", { cwd: archives })
    .toSorted()
    .map((name) => join(archives, name));
};

/** Name, version and checksum, and the control file, which scanners look for in an image. */
const read = async (file: string): Promise<{ described: DebianPackage; control: string }> => {
  const control = execFileSync("dpkg-deb", ["--field", file], { encoding: "utf8" });
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(control)?.[1] ?? missing(file, name);
  const sha256 = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  const [name, version, architecture] = [field("Package"), field("Version"), field("Architecture")];
  return { described: { name, version, architecture, sha256 }, control };
};

const missing = (file: string, name: string): never => {
  throw new Error(`${basename(file)} does not say its ${name}`);
};

const unpack = (file: string, root: string): Promise<void> => {
  const excluded = leftOut.map((pattern) => `--exclude=${pattern}`).join(" ");
  const script = `dpkg-deb --fsys-tarfile "$0" | tar --extract --keep-directory-symlink --wildcards ${excluded} --directory "$1"`;
  return command(["bash", "-euo", "pipefail", "-c", script, file, root], { log });
};

/** What the packages' own scripts would make: they cannot run on another processor. */
const writeFiles = async (root: string): Promise<void> => {
  const certificates = globSync("usr/share/ca-certificates/mozilla/*.crt", { cwd: root }).toSorted();
  const texts = await Promise.all(certificates.map((name) => readFile(join(root, name), "utf8")));
  const written: Record<string, string> = {
    "etc/ssl/certs/ca-certificates.crt": texts.map((text) => `${text.trimEnd()}\n`).join(""),
    "etc/passwd": "root:x:0:0:root:/root:/sbin/nologin\nherald:x:65532:65532:herald:/app:/sbin/nologin\n",
    "etc/group": "root:x:0:\nherald:x:65532:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
  };
  await mkdir(join(root, "etc/ssl/certs"), { recursive: true });
  for (const [name, text] of Object.entries(written)) await writeFile(join(root, name), text);
};
