import { type ThreadOptions, threads } from "./threads.ts";

export type ThreadQueueOptions<Job, Result> = Omit<ThreadOptions<Job, Result>, "onResults" | "onEnd"> & {
  /** Jobs of one key are done one after another in turn with those of others. */
  keyOf: (job: Job) => string;
  /** Jobs handed over at once, at most, and jobs that may wait: over all, and of one key. */
  most: number;
  mostWaiting: number;
  mostOfKey: number;
  slowOnes: SlowKeys;
  /** Given when the program stops, too many jobs wait, or no thread starts. */
  unavailable: Result;
};

/** Keys whose jobs a queue does not do: it adds each that takes too long. */
export type SlowKeys = { has: (key: string) => boolean; add: (key: string) => void };

export type ThreadQueue<Job, Result> = {
  /** `overtime` when it took longer than the limit, or was ended with its thread. Never rejects. */
  run: (job: Job) => Promise<Result | "overtime">;
  stop: () => Promise<void>;
};

/** Does jobs in a thread of its own, each key in turn; the thread starts with the first job. */
export const threadQueue = <Job, Result>(options: ThreadQueueOptions<Job, Result>): ThreadQueue<Job, Result> => {
  const { keyOf, most, mostWaiting, mostOfKey, slowOnes, unavailable, ...ofThread } = options;
  const queue = fairQueue<Waiting<Job, Result>>();
  let inHand: Waiting<Job, Result>[] = [];
  let isStopped = false;

  const isQuick = ({ job, resolve }: Waiting<Job, Result>): boolean => {
    if (!slowOnes.has(keyOf(job))) return true;
    resolve("overtime");
    return false;
  };
  const next = (): void => {
    if (inHand.length > 0 || isStopped) return;
    while (inHand.length === 0 && queue.size() > 0) inHand = queue.take(most).filter(isQuick);
    if (inHand.length === 0) return;
    thread.post(inHand.map(({ job }) => job));
  };
  const settle = (results: readonly (Result | "overtime")[]): void => {
    const [done, rest] = [inHand.slice(0, results.length), inHand.slice(results.length)];
    for (const [i, { job, resolve }] of done.entries()) {
      const result = results[i] ?? "overtime";
      if (result === "overtime") slowOnes.add(keyOf(job));
      resolve(result);
    }
    again(rest);
  };
  /** The thread has ended: because of the job at `culprit`, or because it did not start. */
  const giveUp = (culprit: number): void => {
    const [lost, stuck] = [inHand, inHand[culprit]];
    if (stuck === undefined) {
      inHand = [];
      for (const { resolve } of lost) resolve(unavailable);
      return next();
    }
    slowOnes.add(keyOf(stuck.job));
    stuck.resolve("overtime");
    again(lost.filter((waiting) => waiting !== stuck));
  };
  const again = (rest: readonly Waiting<Job, Result>[]): void => {
    for (const waiting of rest.toReversed()) queue.putBack(keyOf(waiting.job), waiting);
    inHand = [];
    next();
  };
  const thread = threads<Job, Result>({ ...ofThread, onResults: settle, onEnd: giveUp });
  return {
    run: (job) => {
      const { promise, resolve } = Promise.withResolvers<Result | "overtime">();
      const key = keyOf(job);
      if (isStopped || queue.size() >= mostWaiting || queue.sizeOf(key) >= mostOfKey) resolve(unavailable);
      else queue.add(key, { job, resolve });
      next();
      return promise;
    },
    stop: async () => {
      isStopped = true;
      for (const { resolve } of [...inHand, ...queue.take(mostWaiting)]) resolve(unavailable);
      await thread.end();
    },
  };
};

type Waiting<Job, Result> = { job: Job; resolve: (result: Result | "overtime") => void };

/** A queue from which each key gives one item in turn. */
const fairQueue = <T>() => {
  const lists = new Map<string, T[]>();
  let size = 0;
  const listOf = (key: string): T[] => {
    const list = lists.get(key) ?? [];
    lists.set(key, list);
    size++;
    return list;
  };
  const take = (most: number): T[] => {
    const taken: T[] = [];
    for (const [key, list] of lists) {
      if (taken.length === most) break;
      taken.push(...list.splice(0, 1));
      lists.delete(key);
      if (list.length > 0) lists.set(key, list); // its next turn comes after all others'
    }
    size -= taken.length;
    return taken;
  };
  return {
    add: (key: string, item: T) => void listOf(key).push(item),
    putBack: (key: string, item: T) => void listOf(key).unshift(item),
    take,
    size: () => size,
    sizeOf: (key: string) => lists.get(key)?.length ?? 0,
  };
};
