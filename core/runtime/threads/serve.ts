import { parentPort, workerData } from "node:worker_threads";

/** What a thread starts with. `progress` is [jobs begun so far, when the one under way began or 0, in ns]. */
export type ThreadSetting = { progress: BigInt64Array; limitMs: number };

const { progress, limitMs } = workerData as ThreadSetting; // sound: threads.ts starts every file that imports this one

/** The time that one job may take, ms. */
export { limitMs };

/** To be called before each job: from here on its time counts. */
export const beginJob = (): void => {
  Atomics.add(progress, 0, 1n);
  Atomics.store(progress, 1, process.hrtime.bigint());
};

/** Does the batches that the thread is posted. Results at the end may be missing: those jobs are posted again. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what is posted only the caller knows
export const serve = <Batch>(run: (batch: Batch) => readonly unknown[] | Promise<readonly unknown[]>): void => {
  parentPort?.on("message", async (batch: Batch) => {
    const results = await run(batch);
    Atomics.store(progress, 1, 0n);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
    parentPort?.postMessage(results);
  });
};
