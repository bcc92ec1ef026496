import type { BatchEnvelope, EventEnvelope } from "../../schema/events/envelope.ts";
import type { Part } from "../process/lifecycle.ts";
import type { BodyContentType, Rendered } from "./engine.ts";
import { templateLimits } from "./limits.ts";
import { templateLane } from "./thread-queue.ts";

export type { Rendered } from "./engine.ts";

export type BodyTemplates = Part & {
  /** Never rejects: a program that stops, or has no thread to render in, is an error of the render too. */
  render: (
    template: string,
    contentType: BodyContentType,
    envelope: EventEnvelope | BatchEnvelope,
  ) => Promise<Rendered>;
};

/** Within this a render keeps nobody waiting; what takes longer is done again, by the thread for slow templates. */
const quickMs = 10;

/**
 * Renders body templates in two threads, so that neither the event loop nor a template that is quick waits for one that
 * is slow. Source: decisions 10.5.
 */
export const bodyTemplates = (): BodyTemplates => {
  const slowOnes = slowTemplates();
  const quick = templateLane({ limitMs: quickMs, slackMs: 90, most: 100, hasSpare: true, shunned: slowOnes });
  const nothing = { has: () => false, add: () => undefined };
  const slow = templateLane({
    limitMs: templateLimits.renderMs,
    slackMs: 100,
    most: 1,
    hasSpare: false,
    shunned: nothing,
  });
  return {
    name: "body templates",
    start: async () => undefined,
    render: async (template, contentType, envelope) => {
      const job = { template, contentType, envelope };
      const first = await quick.render(job);
      const result = first === "overtime" ? await slow.render(job) : first;
      return result === "overtime" ? { error: tooSlow } : result;
    },
    stop: async () => {
      await Promise.all([quick.stop(), slow.stop()]);
    },
  };
};

const tooSlow = { code: "TEMPLATE_RENDER" as const, message: `takes longer than ${templateLimits.renderMs} ms` };

const firstMs = 1_000; // then it is tried again: the machine may have been busy, or its events large
const longestMs = 60_000;
const mostSlow = 200;

/** Templates that were too slow: each time they are remembered for twice as long, unless they were not for a while. */
const slowTemplates = (): { has: (template: string) => boolean; add: (template: string) => void } => {
  const slow = new Map<string, { untilMs: number; forMs: number }>();
  return {
    has: (template) => (slow.get(template)?.untilMs ?? 0) > performance.now(),
    add: (template) => {
      const nowMs = performance.now();
      const before = slow.get(template);
      if (before !== undefined && before.untilMs > nowMs) return;
      const forMs = before !== undefined && nowMs - before.untilMs < longestMs ? before.forMs * 2 : firstMs;
      slow.delete(template);
      slow.set(template, { untilMs: nowMs + Math.min(forMs, longestMs), forMs: Math.min(forMs, longestMs) });
      for (const oldest of slow.keys()) if (slow.size > mostSlow) slow.delete(oldest);
    },
  };
};
