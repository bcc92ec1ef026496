import { Worker } from "node:worker_threads";
import type { ThreadSetting } from "./serve.ts";

export type Threads<Job> = { post: (jobs: readonly Job[]) => void; end: () => Promise<void> };

export type ThreadOptions<Job, Result> = {
  /** What the thread runs: a file that calls `serve`. */
  file: URL;
  /** What the thread is posted for some jobs. */
  batchOf: (jobs: readonly Job[]) => unknown;
  /** A job that needs more ends the thread, not the program. */
  memoryMegabytes: number;
  /** A thread that has not begun with its first job by then is given up. */
  startMs: number;
  /** Whether a second thread is kept ready, as one takes a while to start. */
  hasSpare: boolean;
  /** Of one job. One that does not end by itself within `slackMs` more is ended with its thread. */
  limitMs: number;
  slackMs: number;
  onResults: (results: readonly (Result | "overtime")[]) => void;
  /** The thread has ended. `culprit` is the place of the job that was under way; -1 when none was. */
  onEnd: (culprit: number) => void;
};

/**
 * Does one batch of jobs at a time in a thread, which starts with the first batch and is replaced when it ends. The
 * program may end while the thread runs.
 */
export const threads = <Job, Result>({
  hasSpare,
  onResults,
  onEnd,
  ...options
}: ThreadOptions<Job, Result>): Threads<Job> => {
  let current: Threads<Job> | null = null;
  let spare: Threads<Job> | null = null;
  const open = (): Threads<Job> => {
    const opened = startThread<Job, Result>({
      ...options,
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

const watchMs = 10;

const startThread = <Job, Result>(options: Omit<ThreadOptions<Job, Result>, "hasSpare">): Threads<Job> => {
  const { file, batchOf, memoryMegabytes, startMs, limitMs, slackMs, onResults, onEnd } = options;
  const progress = new BigInt64Array(new SharedArrayBuffer(16));
  const workerData: ThreadSetting = { progress, limitMs };
  const worker = new Worker(file, {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    env: cacheOnly(process.env),
    execArgv: [],
  });
  let postedAt = 0n;
  let before = 0n; // jobs of earlier batches
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
  const receive = (results: (Result | "overtime")[]): void => {
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
