import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { bundlePlugin } from "../../../dev/bundle/kubectl-plugin.ts";
import { atMost, type Figure } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { resources, surroundings } from "../operator/resources.ts";
import { post } from "../operator/system.ts";

const exec = promisify(execFile);

/** How long a run of the plugin takes, ms: the median of some. The code 1 says that not everything is Ready. */
const tookMs = async (file: string, args: readonly string[], env: NodeJS.ProcessEnv, runs: number): Promise<number> => {
  const times: number[] = [];
  for (let n = 0; n < runs; n++) {
    const begunMs = performance.now();
    await exec(process.execPath, [file, ...args], { env, maxBuffer: 64 * 1024 * 1024 }).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && error.code === 1)) throw error;
    });
    times.push(performance.now() - begunMs);
  }
  return times.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? Number.NaN;
};

/** `kubectl herald`, as one file, beside a cluster with many resources. */
const measurePlugin: Measurement = (round, tell) =>
  round.withCluster(async ({ kubeconfig, client }) => {
    const [count, runs] = round.isShort ? [20, 1] : [500, 11];
    const dir = await mkdtemp(join(tmpdir(), "herald-kubectl-"));
    try {
      const file = await bundlePlugin(dir);
      const env = { ...process.env, KUBECONFIG: kubeconfig, NODE_COMPILE_CACHE: join(dir, "cache") };
      await post(client, surroundings(count, "kubectl"));
      await post(client, resources(count, "kubectl"));
      const figure = async (name: string, mostMs: number, args: readonly string[]): Promise<Figure> => {
        await tookMs(file, args, env, 1); // fills the compile cache, as a person's first run does
        const value = await tookMs(file, args, env, runs);
        return { name, reach: atMost(mostMs), value, unit: "ms", how: `median of ${runs} runs, node included` };
      };
      tell(await figure("kubectl herald --help", 150, ["--help"]));
      tell(await figure(`kubectl herald status -A, ${count} resources`, 1_500, ["status", "-A"]));
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });

export const kubectl: Measurements = { kubectl: measurePlugin };
