import type { BatchEnvelope, EventEnvelope } from "../../schema/events/envelope.ts";
import type { Part } from "../process/lifecycle.ts";
import type { BodyContentType, Rendered } from "./engine.ts";
import { templateLimits } from "./limits.ts";
import { twoThreads } from "./two-threads.ts";
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

/** Renders body templates in threads of their own. Source: docs/reference/webhooks.md#templates. */
export const bodyTemplates = (): BodyTemplates => {
  const threads = twoThreads<RenderJob, Rendered>({
    file: new URL("worker.ts", import.meta.url),
    batchOf,
    keyOf: ({ template }) => template,
    renderMs: templateLimits.renderMs,
    slackMs: 100,
    memoryMegabytes: 128, // a render needs some megabytes at most
    unavailable: { error: { code: "TEMPLATE_RENDER", message: "cannot be rendered now" } }, // counts as failed, is tried again
  });
  return {
    name: "body templates",
    start: async () => undefined,
    render: async (template, contentType, envelope) => {
      const result = await threads.run({ template, contentType, envelope });
      return result === "overtime" ? { error: tooSlow } : result;
    },
    stop: threads.stop,
  };
};

const batchOf = (jobs: readonly RenderJob[]): RenderBatch => {
  const templates = [...new Set(jobs.map(({ template }) => template))];
  const places = new Map(templates.map((template, at) => [template, at]));
  return {
    templates,
    jobs: jobs.map(({ template, contentType, envelope }) => ({ at: places.get(template) ?? 0, contentType, envelope })),
  };
};

const tooSlow = { code: "TEMPLATE_RENDER" as const, message: `takes longer than ${templateLimits.renderMs} ms` };
