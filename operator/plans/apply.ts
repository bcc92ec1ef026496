import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kubeClient } from "#core/runtime/kube/client.ts";
import { connection } from "#core/runtime/kube/connection.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { applyPlans, type PlanManifest } from "./default-plans.ts";

// The chart's Job, in the image: `node apply-plans.js FOLDER` applies the plans in the folder's .json files.
const waitMs = 120_000; // for a CustomResourceDefinition that was made a moment ago

const readPlans = (folder: string): PlanManifest[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as PlanManifest); // the API server checks it

const log = createLog({ program: "apply-plans", level: "info" });
const client = kubeClient({ connection: connection(process.env) });
const [, , folder = ""] = process.argv;
const apply = async (): Promise<void> => {
  try {
    await applyPlans({ client, log }, readPlans(folder), AbortSignal.timeout(waitMs));
  } catch (err) {
    log.error({ err }, "plans.failed");
    process.exitCode = 1;
  }
  client.close();
};

void apply();
