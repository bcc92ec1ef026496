import { hasLiquid, textsOf } from "../../../domain/content/texts.ts";
import { contentLimits } from "../limits.ts";
import { sandbox } from "../sandbox.ts";
import type { ContentTemplate, ContentValues } from "./renderer.ts";
import { contentTags } from "./tags.ts";

/** The values that a template reads and there are not, such as `user.tags.name`, sorted. */
export const missingIn = ({ content, partials }: ContentTemplate, values: ContentValues): string[] => {
  const liquid = sandbox({
    limits: contentLimits,
    isHtml: true, // it knows every filter
    tags: contentTags((name) => liquid.parse(partials[name] ?? "")),
  });
  const paths = textsOf(content)
    .filter(({ text }) => hasLiquid(text))
    .flatMap(({ text }) => liquid.reads(liquid.parse(text)))
    .filter((path) => isMissing(values, path));
  return [...new Set(paths.map((path) => path.join(".")))].sort();
};

const isMissing = (values: ContentValues, path: readonly string[]): boolean => {
  let found: unknown = values;
  for (const name of path) {
    if (Array.isArray(found) || typeof found === "string") return false; // its size, or one of its items
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return true;
    found = Reflect.get(found, name);
  }
  return found === null || found === undefined;
};
