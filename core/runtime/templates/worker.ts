import { beginJob, limitMs, serve } from "../threads/serve.ts";
import { type BodyContentType, type Rendered, templateEngine } from "./engine.ts";

export type RenderJob = { template: string; contentType: BodyContentType; envelope: object };

/** Jobs name their templates by a place in a list, so that each text is sent once. */
export type RenderBatch = {
  templates: string[];
  jobs: { at: number; contentType: BodyContentType; envelope: object }[];
};

const sliceMs = 5; // after it other templates get their turn

const engine = templateEngine();

serve(({ templates, jobs }: RenderBatch): (Rendered | "overtime")[] => {
  const results: (Rendered | "overtime")[] = [];
  const late = new Set<number>();
  const endMs = performance.now() + sliceMs;
  for (const { at, contentType, envelope } of jobs) {
    if (results.length > 0 && performance.now() > endMs) break;
    beginJob();
    const result = late.has(at) ? "overtime" : engine.render(templates[at] ?? "", contentType, envelope, limitMs);
    if (result === "overtime") late.add(at);
    results.push(result);
  }
  return results;
});
