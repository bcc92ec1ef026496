import { hash } from "node:crypto";
import type { Part } from "../../process/lifecycle.ts";
import { contentLimits } from "../limits.ts";
import { twoThreads } from "../two-threads.ts";
import { type ContentTemplate, type ContentValues, contentRenderer, type RenderedContent } from "./renderer.ts";
import type { ContentBatch } from "./worker.ts";

/** What a recipient is sent; `unavailable`: it cannot be rendered now, and is to be tried again. */
export type Render = (values: ContentValues) => Promise<RenderedContent | "unavailable">;

export type ContentTemplates = Part & {
  /** Parses a template, to render it for many: plain ones here, all others in threads. */
  open: (template: ContentTemplate) => Render;
};

type Job = { key: string; template: ContentTemplate; values: ContentValues };

/** Renders what messages say, bounded in time and memory. Source: docs/reference/templates.md#rendering. */
export const contentTemplates = (): ContentTemplates => {
  const { renderMs } = contentLimits;
  const threads = twoThreads<Job, RenderedContent | "unavailable">({
    file: new URL("worker.ts", import.meta.url),
    batchOf,
    keyOf: ({ key }) => key,
    renderMs,
    slackMs: 1_000, // who is not rendered gets nothing: a busy machine is no reason for that
    memoryMegabytes: 256, // some 60 for templates that are kept, and what one of them may use
    unavailable: "unavailable",
  });
  return {
    name: "templates",
    start: async () => undefined,
    stop: threads.stop,
    open: (template) => {
      const renderer = contentRenderer(template);
      const key = renderer.isPlain ? "" : hash("sha256", JSON.stringify(template));
      return async (values) => {
        const result = renderer.isPlain
          ? renderer.render(values, renderMs)
          : await threads.run({ key, template, values });
        return result === "overtime" ? tooSlow : result;
      };
    },
  };
};

const tooSlow: RenderedContent = {
  fault: { member: "content", line: 1, column: 1, message: `takes longer than ${contentLimits.renderMs} ms` },
};

const batchOf = (jobs: readonly Job[]): ContentBatch => {
  const places = new Map<string, number>();
  const templates: ContentBatch["templates"] = [];
  return {
    templates,
    jobs: jobs.map(({ key, template, values }) => {
      const at = places.get(key) ?? templates.push({ key, template }) - 1;
      places.set(key, at);
      return { at, values };
    }),
  };
};
