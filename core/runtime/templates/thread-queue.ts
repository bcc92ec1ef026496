import type { Rendered } from "./engine.ts";
import { type ThreadOptions, templateThreads } from "./threads.ts";
import type { RenderJob, RenderResults } from "./worker.ts";

export type TemplateLane = {
  /** `overtime` when it took longer than the limit, or was given up with its thread. Never rejects. */
  render: (job: RenderJob) => Promise<RenderResults[number]>;
  stop: () => Promise<void>;
};

export type LaneOptions = Pick<ThreadOptions, "limitMs" | "slackMs" | "hasSpare"> & {
  /** Renders handed over at once, at most. */
  most: number;
  /** Templates that are not rendered here; each that takes too long is added. */
  shunned: { has: (template: string) => boolean; add: (template: string) => void };
};

/** Most renders that wait. Source: the requests that a dispatcher makes at once are fewer. */
const mostWaiting = 20_000;

/** Renders in a thread of its own, templates in turn; the thread starts with the first render. */
export const templateLane = ({ most, shunned, ...options }: LaneOptions): TemplateLane => {
  const queue = fairQueue<Waiting>();
  let inHand: Waiting[] = [];
  let isStopped = false;

  const next = (): void => {
    if (inHand.length > 0 || isStopped) return;
    while (inHand.length === 0 && queue.size() > 0) inHand = queue.take(most).filter(isWelcome(shunned));
    if (inHand.length === 0) return;
    threads.post(inHand.map(({ job }) => job));
  };
  const settle = (results: RenderResults): void => {
    const [done, rest] = [inHand.slice(0, results.length), inHand.slice(results.length)];
    for (const [i, { job, resolve }] of done.entries()) {
      const result = results[i] ?? "overtime";
      if (result === "overtime") shunned.add(job.template);
      resolve(result);
    }
    again(rest);
  };
  /** The thread is lost: by the render at `culprit`, or because it did not start. */
  const giveUp = (culprit: number): void => {
    const [lost, stuck] = [inHand, inHand[culprit]];
    if (stuck === undefined) {
      inHand = [];
      for (const { resolve } of lost) resolve(unavailable);
      return next();
    }
    shunned.add(stuck.job.template);
    stuck.resolve("overtime");
    again(lost.filter((waiting) => waiting !== stuck));
  };
  const again = (rest: readonly Waiting[]): void => {
    for (const waiting of rest.toReversed()) queue.putBack(waiting.job.template, waiting);
    inHand = [];
    next();
  };
  const threads = templateThreads({ ...options, onResults: settle, onEnd: giveUp });

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

/** The program stops, too much waits, or no thread starts: the request counts as failed, and is made again later. */
const unavailable: Rendered = { error: { code: "TEMPLATE_RENDER", message: "cannot be rendered now" } };

const isWelcome =
  (shunned: LaneOptions["shunned"]) =>
  ({ job, resolve }: Waiting): boolean => {
    if (!shunned.has(job.template)) return true;
    resolve("overtime");
    return false;
  };

/** Gives items out by turns of their keys. */
const fairQueue = <T>(): FairQueue<T> => {
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
    add: (key, item) => void listOf(key).push(item),
    putBack: (key, item) => void listOf(key).unshift(item),
    take,
    size: () => size,
  };
};

type FairQueue<T> = {
  add: (key: string, item: T) => void;
  putBack: (key: string, item: T) => void;
  take: (most: number) => T[];
  size: () => number;
};
