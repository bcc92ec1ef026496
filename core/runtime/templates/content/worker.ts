import { LRUCache } from "lru-cache";
import { beginJob, limitMs, serve } from "../../threads/serve.ts";
import { stepsIn } from "./faults.ts";
import {
  type ContentRenderer,
  type ContentTemplate,
  type ContentValues,
  contentRenderer,
  type RenderedContent,
} from "./renderer.ts";

/** Jobs name their templates by a place in a list, so that each is sent once. */
export type ContentBatch = {
  templates: { key: string; template: ContentTemplate }[];
  jobs: { at: number; values: ContentValues }[];
};

const sliceMs = 5; // after it other templates get their turn

/** Those used last; a parsed step takes some 1.5 KB. */
const renderers = new LRUCache<string, ContentRenderer>({ max: 200, maxSize: 40_000 });

serve(({ templates, jobs }: ContentBatch): (RenderedContent | "overtime")[] => {
  const results: (RenderedContent | "overtime")[] = [];
  const late = new Set<number>();
  const endMs = performance.now() + sliceMs;
  for (const { at, values } of jobs) {
    if (results.length > 0 && performance.now() > endMs) break;
    const named = templates[at];
    const renderer = named === undefined || late.has(at) ? null : rendererOf(named); // parsed once, whatever that takes
    beginJob();
    const result = renderer === null ? "overtime" : renderer.render(values, limitMs);
    if (result === "overtime") late.add(at);
    results.push(result);
  }
  return results;
});

const rendererOf = ({ key, template }: ContentBatch["templates"][number]): ContentRenderer => {
  const known = renderers.get(key);
  if (known !== undefined) return known;
  const made = contentRenderer(template);
  renderers.set(key, made, { size: 1 + stepsIn(template) });
  return made;
};
