import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Tally } from "../test/support/suite/reporter.ts";
import { type Cluster, findCluster, needs } from "./e2e/clusters.ts";
import { buildImage, containerEngine } from "./e2e/image.ts";
import { buildPrometheusImage } from "./e2e/prometheus-image.ts";
import { buildStoreImages } from "./e2e/store-images.ts";
import { findTool } from "./files/find-tool.ts";
import { binDir, devDir, testPortBase } from "./files/paths.ts";
import { areBuilt, build, mongoTools } from "./install/go-tools.ts";
import { command, say, step } from "./install/progress.ts";
import { isFound } from "./install/release-tools.ts";
import { withLock } from "./processes/lock.ts";
import { startStack, stopStack } from "./servers/stack.ts";
import { runMocha } from "./suite/mocha.ts";

// `make e2e`: the chart, with the image of the Dockerfile, on a cluster with real nodes. The stores run beside it, on
// this machine; in the last files they are those of the chart. The last line says `N passed, N failed`; the code is 3 when there is nothing to run it on.
const dir = join(devDir, "e2e");
const portBase = testPortBase() + 50;
const nothingToRunOn = 3;

const install = "test/e2e/install.test.ts"; // what it installs is used by the rest
/** Begin with an empty cluster, and have the stores of the chart. */
const bundled = ["trial", "full-disk", "moving"].map((name) => `test/e2e/${name}.test.ts`);
const moving = "test/e2e/moving.test.ts"; // dumps and restores a database
const status = "test/e2e/status.test.ts"; // has a Prometheus in the cluster
/** Those that wait most come first, since the chart's suite may run beside them; `uninstall` takes everything away. */
const besideStores = [
  "nodes/partition",
  "nodes/power",
  "managed",
  "security",
  "network",
  "metrics",
  "status",
  "idle",
  "upgrade",
  "keys",
  "leader",
  "nodes/drain",
  "scale",
  "callbacks",
  "delivery",
  "kubectl",
  "uninstall",
].map((name) => `test/e2e/${name}.test.ts`);
const files = [...besideStores, ...bundled];

/** Two names of the image, so that an upgrade has something to change. */
const images = ["herald:e2e-1", "herald:e2e-2"] as const;

const main = async (): Promise<number> => {
  const engine = await containerEngine();
  const cluster = await findCluster(process.env, { engine, dir });
  if (cluster === null || engine === null || findTool("helm") === null) {
    say(cluster === null || engine === null ? needs : "helm is missing: see https://helm.sh/docs/intro/install");
    return nothingToRunOn;
  }
  try {
    const { passed, failed } = await test(cluster, engine);
    console.log(`${passed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    await cluster.remove();
  }
};

const test = async (cluster: Cluster, engine: string): Promise<Tally> => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const chosen = positionals.length > 0 ? positionals : files;
  if (chosen.includes(moving) && !areBuilt(mongoTools) && !isFound(mongoTools))
    await withLock(join(binDir, "install.lock"), () =>
      step("mongodump and mongorestore built", () => build(mongoTools)),
    );
  await loadImages(cluster, engine, chosen);
  const stores = join(dir, "stores");
  await stopStack(stores); // of a run that was killed
  rmSync(stores, { recursive: true, force: true }); // each run begins with no data
  const which = ["mongodb", "nats", "redis"] as const;
  const stack = await startStack({ dir: stores, portBase, which, env: {} });
  try {
    return await runMocha(
      ["--require", "test/e2e/support/hooks.ts", ...(chosen.every(isBundled) ? [] : [install]), ...chosen],
      {
        KUBECONFIG: cluster.kubeconfig,
        E2E_HOST: cluster.host,
        E2E_DIR: dir,
        E2E_PORT_BASE: String(portBase),
        E2E_IMAGES: images.join(" "),
        ...cluster.nodeCommands,
      },
    );
  } finally {
    await stack.stop();
  }
};

const isBundled = (file: string): boolean => bundled.includes(file);

const loadImages = async (cluster: Cluster, engine: string, chosen: readonly string[]): Promise<void> => {
  const flags = process.env["E2E_BUILD_FLAGS"]?.split(" ") ?? [];
  const add = async (what: string, archive: string, build: (archive: string) => Promise<void>): Promise<void> => {
    await step(`${what} built`, () => build(archive));
    await step(`${what} loaded into the nodes`, () => command([...cluster.loadImage, archive], { log: "e2e-load" }));
  };
  await add("image of the Dockerfile", join(dir, "image.tar"), (archive) =>
    buildImage({ engine, names: images, archive, flags }),
  );
  if (chosen.some(isBundled))
    await add("images of the bundled stores", join(dir, "stores.tar"), (archive) =>
      buildStoreImages({ engine, dir, archive, flags }),
    );
  if (chosen.includes(status))
    await add("image of Prometheus", join(dir, "prometheus.tar"), (archive) =>
      buildPrometheusImage({ engine, dir, archive, flags }),
    );
};

process.exit(
  await withLock(join(devDir, "e2e.lock"), main).catch((error: unknown) => {
    console.error(error);
    return 1;
  }),
);
