import type { BatchEnvelope, EventEnvelope } from "../schema/event.ts";
import { type BodyContentType, type Rendered, templateLimits } from "./body-template-engine.ts";
import { templateLane } from "./body-template-lane.ts";
import type { Part } from "./lifecycle.ts";

export { type Rendered, templateProblem } from "./body-template-engine.ts";

export type BodyTemplates = Part & {
  /** Rejects only when no template can be rendered: the program stops, or its threads do not start. */
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
  const quick = templateLane({ limitMs: quickMs, slackMs: 60, most: 100, hasSpare: true, shunned: slowOnes });
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

const slowForMs = 60_000; // then it is tried again: the machine may have been busy, or its events large
const mostSlow = 200;

const slowTemplates = (): { has: (template: string) => boolean; add: (template: string) => void } => {
  const until = new Map<string, number>();
  return {
    has: (template) => (until.get(template) ?? 0) > performance.now(),
    add: (template) => {
      until.delete(template);
      until.set(template, performance.now() + slowForMs);
      for (const oldest of until.keys()) if (until.size > mostSlow) until.delete(oldest);
    },
  };
};
