import type { Rendered } from "./engine.ts";
import { type ThreadOptions, templateThreads } from "./threads.ts";
import type { RenderJob, RenderResults } from "./worker.ts";

export type ThreadQueueOptions = Pick<ThreadOptions, "limitMs" | "slackMs" | "hasSpare"> & {
  /** Renders handed over at once, at most. */
  most: number;
  slowOnes: SlowTemplates;
};

/** Templates that a queue does not render: it adds each that takes too long. */
export type SlowTemplates = { has: (template: string) => boolean; add: (template: string) => void };

/** Most renders that wait. Source: the requests that a dispatcher makes at once are fewer. */
const mostWaiting = 20_000;

/** Renders in a thread of its own, one template after another in turn; the thread starts with the first render. */
export const threadQueue = ({ most, slowOnes, ...options }: ThreadQueueOptions) => {
  const queue = fairQueue<Waiting>();
  let inHand: Waiting[] = [];
  let isStopped = false;

  const next = (): void => {
    if (inHand.length > 0 || isStopped) return;
    while (inHand.length === 0 && queue.size() > 0) inHand = queue.take(most).filter(isQuick(slowOnes));
    if (inHand.length === 0) return;
    threads.post(inHand.map(({ job }) => job));
  };
  const settle = (results: RenderResults): void => {
    const [done, rest] = [inHand.slice(0, results.length), inHand.slice(results.length)];
    for (const [i, { job, resolve }] of done.entries()) {
      const result = results[i] ?? "overtime";
      if (result === "overtime") slowOnes.add(job.template);
      resolve(result);
    }
    again(rest);
  };
  /** The thread has ended: because of the render at `culprit`, or because it did not start. */
  const giveUp = (culprit: number): void => {
    const [lost, stuck] = [inHand, inHand[culprit]];
    if (stuck === undefined) {
      inHand = [];
      for (const { resolve } of lost) resolve(unavailable);
      return next();
    }
    slowOnes.add(stuck.job.template);
    stuck.resolve("overtime");
    again(lost.filter((waiting) => waiting !== stuck));
  };
  const again = (rest: readonly Waiting[]): void => {
    for (const waiting of rest.toReversed()) queue.putBack(waiting.job.template, waiting);
    inHand = [];
    next();
  };
  const threads = templateThreads({ ...options, onResults: settle, onEnd: giveUp });

  /** `overtime` when it took longer than the limit, or was ended with its thread. Never rejects. */
  const render = (job: RenderJob): Promise<RenderResults[number]> => {
    const { promise, resolve } = Promise.withResolvers<RenderResults[number]>();
    if (isStopped || queue.size() >= mostWaiting) resolve(unavailable);
    else queue.add(job.template, { job, resolve });
    next();
    return promise;
  };
  const stop = async (): Promise<void> => {
    isStopped = true;
    for (const { resolve } of [...inHand, ...queue.take(mostWaiting)]) resolve(unavailable);
    await threads.end();
  };
  return { render, stop };
};

type Waiting = { job: RenderJob; resolve: (result: RenderResults[number]) => void };

/** The program stops, too many renders wait, or no thread starts: the request counts as failed and is tried again later. */
const unavailable: Rendered = { error: { code: "TEMPLATE_RENDER", message: "cannot be rendered now" } };

const isQuick =
  (slowOnes: SlowTemplates) =>
  ({ job, resolve }: Waiting): boolean => {
    if (!slowOnes.has(job.template)) return true;
    resolve("overtime");
    return false;
  };

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
  };
};
