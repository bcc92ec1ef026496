import { Worker } from "node:worker_threads";
import type { RenderBatch, RenderJob, RenderResults, WorkerSetting } from "./worker.ts";

export type TemplateThreads = { post: (jobs: readonly RenderJob[]) => void; end: () => Promise<void> };

export type ThreadOptions = {
  /** Whether a second thread is kept ready, as one takes a while to start. */
  hasSpare: boolean;
  /** Of one render. A render that does not end by itself within `slackMs` more is ended with its thread. */
  limitMs: number;
  slackMs: number;
  onResults: (results: RenderResults) => void;
  /** The thread has ended. `culprit` is the place of the job that was under way; -1 when none was. */
  onEnd: (culprit: number) => void;
};

/**
 * Renders one batch of templates at a time in a thread, which starts with the first batch and is replaced when it ends.
 * The program may end while the thread runs.
 */
export const templateThreads = ({ hasSpare, onResults, onEnd, ...limits }: ThreadOptions): TemplateThreads => {
  let current: TemplateThreads | null = null;
  let spare: TemplateThreads | null = null;
  const open = (): TemplateThreads => {
    const opened = startThread({
      ...limits,
      onResults: (results) => {
        if (hasSpare) spare ??= open();
        onResults(results);
      },
      onEnd: (culprit) => {
        if (opened !== current) return void (spare = null);
        [current, spare] = [spare, null];
        onEnd(culprit);
      },
    });
    return opened;
  };
  return {
    post: (jobs) => {
      current ??= open();
      current.post(jobs);
    },
    end: async () => {
      await Promise.all([current?.end(), spare?.end()]);
    },
  };
};

const startMs = 10_000;
const watchMs = 10;

/** A render needs some megabytes at most; one that needs more ends the thread, not the program. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

const startThread = ({ limitMs, slackMs, onResults, onEnd }: Omit<ThreadOptions, "hasSpare">): TemplateThreads => {
  const progress = new BigInt64Array(new SharedArrayBuffer(16));
  const workerData: WorkerSetting = { progress, limitMs };
  const worker = new Worker(new URL("worker.ts", import.meta.url), {
    workerData,
    resourceLimits,
    env: cacheOnly(process.env),
    execArgv: [],
  });
  let postedAt = 0n;
  let before = 0n; // renders of earlier batches
  let watch: NodeJS.Timeout | undefined;
  let isOver = false;

  const over = (): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(watch);
    void worker.terminate();
    onEnd(Number(Atomics.load(progress, 0) - before) - 1);
  };
  const look = (): void => {
    const since = Atomics.load(progress, 1);
    const forMs = Number(process.hrtime.bigint() - (since === 0n ? postedAt : since)) / 1e6;
    const isStarting = Atomics.load(progress, 0) === 0n;
    if (since === 0n ? isStarting && forMs > startMs : forMs > limitMs + slackMs) over();
  };
  const receive = (results: RenderResults): void => {
    if (isOver) return;
    clearInterval(watch);
    before += BigInt(results.length);
    onResults(results);
  };
  worker.on("message", receive).on("error", over).on("exit", over);
  worker.unref();
  return {
    post: (jobs) => {
      postedAt = process.hrtime.bigint();
      watch = setInterval(look, watchMs);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin
      worker.postMessage(batchOf(jobs));
    },
    end: async () => {
      isOver = true;
      clearInterval(watch);
      await worker.terminate();
    },
  };
};

/** Of the environment only the folder of compiled code, with which a thread takes half the memory. */
const cacheOnly = ({ NODE_COMPILE_CACHE: dir }: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  dir === undefined ? {} : { NODE_COMPILE_CACHE: dir };

const batchOf = (jobs: readonly RenderJob[]): RenderBatch => {
  const templates = [...new Set(jobs.map(({ template }) => template))];
  const places = new Map(templates.map((template, at) => [template, at]));
  return {
    templates,
    jobs: jobs.map(({ template, contentType, envelope }) => ({ at: places.get(template) ?? 0, contentType, envelope })),
  };
};
