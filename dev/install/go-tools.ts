import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bin, binDir, rootDir } from "../files/paths.ts";
import { pinned } from "../servers/versions.ts";
import { command } from "./progress.ts";

/**
 * A small Go module that pins programs by go.mod and go.sum, and the packages they are built from. It is the folder
 * dev/tools/<module>, unless another one is named.
 */
export type GoTools = {
  module: string;
  packages: Readonly<Record<string, string>>;
  ldflags: string;
  /** Packages that cost little when they run: they are compiled without optimisation, which takes less time. */
  plain?: readonly string[];
  folder?: string;
};

/** What only a debugger reads is a seventh of the work. */
const withoutDebugging = "-dwarf=false";

/**
 * One setting for all, so that the builds share one cache. A compiler ends before its garbage is worth collecting: to collect
 * it is a fifth of the CPU of a build. Four compilers run at once.
 */
const compiling = { CGO_ENABLED: "0", GOGC: "off", GOMEMLIMIT: "1GiB" };

/** Without these a client cannot read the API server's version. */
const kubernetesVersion = (): string => {
  const version = pinned("kubernetes", "k8s.io/kubernetes");
  const [major, minor] = version.split(".");
  return ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"]
    .flatMap((path) => [
      `-X ${path}.gitVersion=v${version}`,
      `-X ${path}.gitMajor=${major}`,
      `-X ${path}.gitMinor=${minor}`,
    ])
    .join(" ");
};

export const ferretdb: GoTools = {
  module: "ferretdb",
  packages: { ferretdb: "github.com/FerretDB/FerretDB/v2/cmd/ferretdb" },
  ldflags: "-s -w",
};

export const nats: GoTools = {
  module: "nats",
  packages: { "nats-server": "github.com/nats-io/nats-server/v2" },
  ldflags: "-s -w",
};

export const versitygw: GoTools = {
  module: "versitygw",
  packages: { versitygw: "github.com/versity/versitygw/cmd/versitygw" },
  ldflags: "-s -w",
};

export const oasdiff: GoTools = {
  module: "oasdiff",
  packages: { oasdiff: "github.com/oasdiff/oasdiff" },
  ldflags: "-s -w",
};

/** MongoDB's own: they dump and restore FerretDB too. */
export const mongoTools: GoTools = {
  module: "mongo-tools",
  packages: {
    mongodump: "github.com/mongodb/mongo-tools/mongodump/main",
    mongorestore: "github.com/mongodb/mongo-tools/mongorestore/main",
  },
  ldflags: "-s -w",
};

export const kubernetes: GoTools = {
  module: "kubernetes",
  packages: {
    etcd: "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    kubectl: "k8s.io/kubernetes/cmd/kubectl",
  },
  ldflags: `-s -w ${kubernetesVersion()}`,
  plain: ["k8s.io/kubernetes/...", "k8s.io/api/...", "k8s.io/client-go/..."], // for the longest of all builds
};

/** Whether the programs are there, built from today's pins. */
export const areBuilt = (tools: GoTools): boolean =>
  Object.keys(tools.packages).every((name) => existsSync(bin(name))) && builtKey(tools) === key(tools);

/** Builds the programs into .dev/bin. The key is written last: a build that was cut short is made again. */
export const build = async (tools: GoTools): Promise<void> => {
  const { module, packages, ldflags, plain = [] } = tools;
  await rm(keyPath(tools), { force: true });
  await mkdir(binDir, { recursive: true });
  for (const [name, path] of Object.entries(packages)) {
    const gcflags = [`all=${withoutDebugging}`, ...plain.map((pattern) => `${pattern}=-N -l ${withoutDebugging}`)];
    const options = ["-mod=readonly", "-buildvcs=false", ...gcflags.map((of) => `-gcflags=${of}`), "-ldflags", ldflags];
    await command(["go", "build", ...options, "-o", `${bin(name)}.new`, path], {
      log: `build-${module}`,
      cwd: moduleDir(tools),
      env: compiling,
    });
    await rename(`${bin(name)}.new`, bin(name));
  }
  await writeFile(keyPath(tools), key(tools));
};

const moduleDir = ({ module, folder = `dev/tools/${module}` }: GoTools): string => join(rootDir, folder);

const keyPath = ({ module }: GoTools): string => join(binDir, `.${module}.key`);

const builtKey = (tools: GoTools): string | null =>
  existsSync(keyPath(tools)) ? readFileSync(keyPath(tools), "utf8") : null;

const key = (tools: GoTools): string => {
  const { packages, ldflags, plain } = tools;
  const hash = createHash("sha256").update(JSON.stringify({ packages, ldflags, plain }));
  for (const file of globSync("{go.mod,go.sum,*.go}", { cwd: moduleDir(tools) }).toSorted())
    hash.update(readFileSync(join(moduleDir(tools), file)));
  return hash.digest("hex");
};
