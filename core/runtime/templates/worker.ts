import { parentPort, workerData } from "node:worker_threads";
import { type BodyContentType, type Rendered, templateEngine } from "./engine.ts";

/** What the thread starts with. `progress` is [renders begun so far, when the one under way began or 0, in ns]. */
export type WorkerSetting = { progress: BigInt64Array; limitMs: number };

export type RenderJob = { template: string; contentType: BodyContentType; envelope: object };

/** Jobs name their templates by a place in a list, so that each text is sent once. */
export type RenderBatch = {
  templates: string[];
  jobs: { at: number; contentType: BodyContentType; envelope: object }[];
};

/** In the order of the jobs. Results at the end may be missing: those jobs are to be sent again. */
export type RenderResults = (Rendered | "overtime")[];

const sliceMs = 5; // after it other templates get their turn

const { progress, limitMs } = workerData as WorkerSetting; // sound: thread-queue.ts starts this file
const engine = templateEngine();

const renderAll = ({ templates, jobs }: RenderBatch): RenderResults => {
  const results: RenderResults = [];
  const late = new Set<number>();
  const endMs = performance.now() + sliceMs;
  for (const { at, contentType, envelope } of jobs) {
    if (results.length > 0 && performance.now() > endMs) break;
    Atomics.add(progress, 0, 1n);
    Atomics.store(progress, 1, process.hrtime.bigint());
    const result = late.has(at) ? "overtime" : engine.render(templates[at] ?? "", contentType, envelope, limitMs);
    if (result === "overtime") late.add(at);
    results.push(result);
  }
  Atomics.store(progress, 1, 0n);
  return results;
};

parentPort?.on("message", (batch: RenderBatch) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
  parentPort?.postMessage(renderAll(batch));
});
