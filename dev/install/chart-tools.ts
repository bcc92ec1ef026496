import { findTool } from "../find-tool.ts";
import { pinned } from "../servers/versions.ts";
import { areBuilt, build, type GoTools } from "./go-tools.ts";
import { say, step } from "./progress.ts";

/** Gets the programs that judge the chart: those that HERALD_TOOLS, .dev/bin or PATH have not are built. */
export const installChartTools = async (): Promise<void> => {
  const missing = chartTools.filter((tools) => !areBuilt(tools) && !isFound(tools));
  for (const tools of missing) await step(`building ${Object.keys(tools.packages).join(", ")}`, () => build(tools));
  if (missing.length === 0) say("the chart's tools are there");
};

/** Every chart tool that is nowhere to be found. */
export const missingChartTools = (): string[] =>
  chartTools.flatMap(({ packages }) => Object.keys(packages)).filter((name) => findTool(name) === null);

const isFound = ({ packages }: GoTools): boolean => Object.keys(packages).every((name) => findTool(name) !== null);

/** A module for each: their dependencies are of different times. */
const tool = (module: string, path: string, flags = ""): GoTools => ({
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

const chartTools: readonly GoTools[] = [
  tool("helm", "helm.sh/helm/v3/cmd/helm", helmFlags()),
  tool("helm-unittest", "github.com/helm-unittest/helm-unittest/cmd/helm-unittest"),
  tool("kubeconform", "github.com/yannh/kubeconform/cmd/kubeconform"),
  tool("kube-score", "github.com/zegl/kube-score/cmd/kube-score"),
  {
    module: "prometheus",
    packages: {
      promtool: "github.com/prometheus/prometheus/cmd/promtool",
      prometheus: "github.com/prometheus/prometheus/cmd/prometheus",
    },
    ldflags: "-s -w",
  },
  tool("argo-health", "."),
];
