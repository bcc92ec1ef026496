import { LRUCache } from "lru-cache";
import type { BatchEnvelope, EventEnvelope } from "../../schema/events/envelope.ts";
import type { Part } from "../process/lifecycle.ts";
import { type SlowKeys, threadQueue } from "../threads/thread-queue.ts";
import type { BodyContentType, Rendered } from "./engine.ts";
import { templateLimits } from "./limits.ts";
import type { RenderBatch, RenderJob } from "./worker.ts";

export type { Rendered } from "./engine.ts";

export type BodyTemplates = Part & {
  /** Never rejects: a program that stops, or has no thread to render in, is an error of the render too. */
  render: (
    template: string,
    contentType: BodyContentType,
    envelope: EventEnvelope | BatchEnvelope,
  ) => Promise<Rendered>;
};

/** A render that takes longer is ended and done again by the thread for slow templates. */
const quickMs = 10;

/**
 * Renders body templates in two threads, so that neither the event loop nor a template that is quick waits for one that
 * is slow. Source: docs/reference/webhooks.md#templates.
 */
export const bodyTemplates = (): BodyTemplates => {
  const none = { has: () => false, add: () => undefined };
  const { renderMs } = templateLimits;
  const quick = renders({ limitMs: quickMs, slackMs: 90, most: 100, hasSpare: true, slowOnes: slowTemplates() });
  const slow = renders({ limitMs: renderMs, slackMs: 100, most: 1, hasSpare: false, slowOnes: none });
  return {
    name: "body templates",
    start: async () => undefined,
    render: async (template, contentType, envelope) => {
      const job = { template, contentType, envelope };
      const first = await quick.run(job);
      const result = first === "overtime" ? await slow.run(job) : first;
      return result === "overtime" ? { error: tooSlow } : result;
    },
    stop: async () => {
      await Promise.all([quick.stop(), slow.stop()]);
    },
  };
};

type RendersOptions = { limitMs: number; slackMs: number; most: number; hasSpare: boolean; slowOnes: SlowKeys };

/** Renders in a thread of its own, one template after another in turn. */
const renders = (options: RendersOptions) =>
  threadQueue<RenderJob, Rendered>({
    ...options,
    file: new URL("worker.ts", import.meta.url),
    batchOf,
    keyOf: ({ template }) => template,
    startMs: 10_000,
    memoryMegabytes: 128, // a render needs some megabytes at most
    mostOfKey: 20_000,
    mostWaiting: 20_000, // the requests that a dispatcher makes at once are fewer
    unavailable: { error: { code: "TEMPLATE_RENDER", message: "cannot be rendered now" } }, // counts as failed, is tried again
  });

const batchOf = (jobs: readonly RenderJob[]): RenderBatch => {
  const templates = [...new Set(jobs.map(({ template }) => template))];
  const places = new Map(templates.map((template, at) => [template, at]));
  return {
    templates,
    jobs: jobs.map(({ template, contentType, envelope }) => ({ at: places.get(template) ?? 0, contentType, envelope })),
  };
};

const tooSlow = { code: "TEMPLATE_RENDER" as const, message: `takes longer than ${templateLimits.renderMs} ms` };

const firstMs = 1_000; // then it is tried again as a quick one: the machine may have been busy, or the events large
const longestMs = 60_000;
const mostSlow = 200;

/** Templates that were too slow. Each time they are remembered for twice as long, from the start after a quiet while. */
const slowTemplates = (): SlowKeys => {
  const slow = new LRUCache<string, { untilMs: number; forMs: number }>({ max: mostSlow });
  return {
    has: (template) => (slow.peek(template)?.untilMs ?? 0) > performance.now(),
    add: (template) => {
      const nowMs = performance.now();
      const before = slow.peek(template);
      if (before !== undefined && before.untilMs > nowMs) return;
      const isRecent = before !== undefined && nowMs - before.untilMs < longestMs;
      const forMs = isRecent ? Math.min(before.forMs * 2, longestMs) : firstMs;
      slow.set(template, { untilMs: nowMs + forMs, forMs });
    },
  };
};
