import { findTool } from "../files/find-tool.ts";
import { bin } from "../files/paths.ts";
import { pinned } from "../servers/versions.ts";
import { areBuilt, build, type GoTools } from "./go-tools.ts";
import { say, step } from "./progress.ts";

/** Builds what packs, pushes and signs a release, unless it is found. */
export const installReleaseTools = async (): Promise<void> => {
  const missing = releaseTools.filter((tools) => !areBuilt(tools) && !isFound(tools));
  for (const tools of missing) await step(`building ${Object.keys(tools.packages).join(", ")}`, () => build(tools));
  if (missing.length === 0) say("what makes a release is there");
};

/** Whether the programs are on the PATH, or where HERALD_TOOLS says. One that was built here from other pins is none of them. */
export const isFound = ({ packages }: GoTools): boolean =>
  Object.keys(packages).every((name) => ![null, bin(name)].includes(findTool(name)));

/** A module for each: their dependencies are of different times. */
export const tool = (module: string, path: string, flags = ""): GoTools => ({
  module,
  packages: { [module]: path },
  ldflags: `-s -w ${flags}`.trim(),
});

/** What helm takes for the cluster's version while it renders without one. */
const helmFlags = (): string => {
  const [major = "", minor = ""] = pinned("kubernetes", "k8s.io/kubernetes").split(".");
  const path = "helm.sh/helm/v3/pkg/chartutil.k8sVersion";
  return `-X helm.sh/helm/v3/internal/version.version=v${pinned("helm", "helm.sh/helm/v3")} -X ${path}Major=${major} -X ${path}Minor=${minor}`;
};

/** Helm packs the chart, crane brings the image to a registry, cosign signs both. */
export const releaseTools: readonly GoTools[] = [
  tool("helm", "helm.sh/helm/v3/cmd/helm", helmFlags()),
  tool("crane", "github.com/google/go-containerregistry/cmd/crane"),
  tool("cosign", "github.com/sigstore/cosign/v3/cmd/cosign"),
];
