import { tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "../processes/run-command.ts";

/** A Go module that ships CustomResourceDefinitions, the hash of its content as go.sum writes it, and which files. */
type Source = { module: string; version: string; sum: string; files: readonly string[] };

const sources: readonly Source[] = [
  {
    module: "github.com/kedacore/keda/v2",
    version: "v2.18.0",
    sum: "h1:ttR223fii/4QJ0YvtrhcWHaEoezByb/t5CeFopjl6EI=",
    files: ["config/crd/bases/keda.sh_scaledobjects.yaml"],
  },
  {
    module: "sigs.k8s.io/gateway-api",
    version: "v1.4.0",
    sum: "h1:ZwlNM6zOHq0h3WUX2gfByPs2yAEsy/EenYJB78jpQfQ=",
    files: ["config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"],
  },
];

/**
 * Paths of the definitions of the kinds of KEDA and of the Gateway API that the chart can make, as these projects ship
 * them, in Go's module cache. What is missing there is downloaded. Throws when a module is not the one that is pinned.
 */
export const kindsOfOthers = async (): Promise<string[]> => {
  const paths: string[] = [];
  for (const source of sources) paths.push(...(await definitionsOf(source)));
  return paths;
};

const definitionsOf = async ({ module, version, sum, files }: Source): Promise<string[]> => {
  const words = ["go", "mod", "download", "-json", `${module}@${version}`];
  const printed = await command(words, { cwd: tmpdir(), env: { GOFLAGS: "" }, timeoutMs: 300_000 });
  const { Dir, Sum } = JSON.parse(printed) as { Dir: string; Sum: string }; // documented: go help mod download
  if (Sum !== sum) throw new Error(`${module} ${version} is not what is pinned: ${Sum} instead of ${sum}`);
  return files.map((file) => join(Dir, file));
};
