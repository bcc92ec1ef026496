import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { findTool } from "../files/find-tool.ts";
import { binDir } from "../files/paths.ts";
import { areBuilt, build, type GoTools } from "./go-tools.ts";
import { kindsOfOthers } from "./kinds-of-others.ts";
import { azurite, installPackaged, isPackaged, openapiTypescript, schemathesis, sqlglot } from "./packaged-tools.ts";
import { command, say, step } from "./progress.ts";
import { isFound, releaseTools, tool } from "./release-tools.ts";

/**
 * Gets what judges the chart and the document of the REST interface: the programs that are nowhere to be found, and the
 * definitions of others' kinds.
 */
export const installChartTools = async (): Promise<void> => {
  const missing = goTools.filter((tools) => !areBuilt(tools) && !isFound(tools));
  const isWithoutPrometheus = !hasPrometheus();
  for (const tools of missing) await step(`building ${Object.keys(tools.packages).join(", ")}`, () => build(tools));
  await installPrometheus();
  await kindsOfOthers();
  const isWithoutBrowser = findTool(browser) === null;
  if (isWithoutBrowser) await step("installing Chromium", installBrowser);
  const unpackaged = packaged.filter((tool) => !isPackaged(tool));
  for (const tool of unpackaged) await step(`installing ${tool.name}`, () => installPackaged(tool));
  if (missing.length + unpackaged.length === 0 && !isWithoutPrometheus && !isWithoutBrowser)
    say("the chart's tools are there");
};

/** Every chart tool that is nowhere to be found. */
export const missingChartTools = (): string[] => [
  ...[...goTools.flatMap(({ packages }) => Object.keys(packages)), ...prometheus, browser].filter(
    (name) => findTool(name) === null,
  ),
  ...packaged.filter((tool) => !isPackaged(tool)).map(({ name }) => name),
];

const packaged = [openapiTypescript, schemathesis, azurite, sqlglot] as const;

/** Debian's own: to build them takes longer than everything else. */
const prometheus = ["prometheus", "promtool"] as const;

const hasPrometheus = (): boolean => prometheus.every((name) => findTool(name) !== null);

/** Gets Prometheus and its promtool, unless they are there. */
export const installPrometheus = async (): Promise<void> => {
  if (!hasPrometheus()) await step("installing Prometheus", unpackPrometheus);
};

/** Takes the programs out of the package; installing it would start a service. */
const unpackPrometheus = async (): Promise<void> => {
  const folder = join(binDir, ".prometheus");
  const options = { log: "install-prometheus", cwd: folder };
  await rm(folder, { recursive: true, force: true }); // of a run that was cut short
  await mkdir(folder, { recursive: true });
  await command(["apt-get", "-q", "update"], options).catch(() => undefined); // another source's failure may not matter to us
  await command(["apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", "prometheus"], options);
  await command(["sh", "-ec", "dpkg --extract prometheus_*.deb ."], options);
  for (const name of prometheus) await rename(join(folder, "usr/bin", name), join(binDir, name));
  await rm(folder, { recursive: true });
};

const browser = "chromium";

/** Debian's own, with the libraries that it needs: they cannot be put into a folder of ours. */
const installBrowser = async (): Promise<void> => {
  const options = { log: "install-chromium" };
  await command(["apt-get", "-q", "update"], options).catch(() => undefined); // an old list may do; the next command says so if it does not
  await command(["apt-get", "-q", "-y", "--no-install-recommends", "install", browser], options);
};

const goTools: readonly GoTools[] = [
  ...releaseTools,
  tool("operator-verify", "github.com/operator-framework/api/cmd/operator-verify"),
  {
    module: "krew",
    packages: {
      "kubectl-krew": "sigs.k8s.io/krew/cmd/krew",
      "validate-krew-manifest": "sigs.k8s.io/krew/cmd/validate-krew-manifest",
    },
    ldflags: "-s -w",
  },
  tool("registry", "github.com/distribution/distribution/v3/cmd/registry"),
  tool("fake-gcs-server", "github.com/fsouza/fake-gcs-server"),
  tool("helm-unittest", "github.com/helm-unittest/helm-unittest/cmd/helm-unittest"),
  tool("kubeconform", "github.com/yannh/kubeconform/cmd/kubeconform"),
  tool("kube-score", "github.com/zegl/kube-score/cmd/kube-score"),
  { ...tool("argocd-health", "."), plain: ["k8s.io/...", "github.com/argoproj/..."] },
  tool("flux-health", "."),
];
