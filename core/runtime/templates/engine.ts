import type { Template } from "liquidjs";
import { LRUCache } from "lru-cache";
import { templateLimits } from "./limits.ts";
import { faultIn, isOvertime, placeOf, reasonOf, type Sandbox, sandbox, tooLong } from "./sandbox.ts";

export type BodyContentType = "application/json" | "text/plain";

export type TemplateError = { code: "TEMPLATE_SYNTAX" | "TEMPLATE_RENDER" | "INVALID_JSON"; message: string };

/**
 * The body, or why there is none. A message names places in the template, never what is in the event; `output` is what
 * was written, when that is not what it should be.
 */
export type Rendered = { body: string } | { error: TemplateError; output?: string };

export type TemplateEngine = {
  /** `overtime` when it takes more processor time than `limitMs`, which is checked between two steps of the template. */
  render: (template: string, contentType: BodyContentType, envelope: object, limitMs: number) => Rendered | "overtime";
};

/** Renders Liquid templates in a sandbox. */
export const templateEngine = (): TemplateEngine => {
  const liquid = sandbox({ limits: templateLimits });
  const parse = cached(liquid.parse);
  return {
    render: (template, contentType, envelope, limitMs) => {
      const parsed = parsedBy(parse, template);
      if ("error" in parsed) return parsed;
      try {
        return checked(liquid.render(parsed.steps, envelope, limitMs), contentType);
      } catch (error) {
        return isOvertime(error) ? "overtime" : renderError(`${reasonOf(error, templateLimits)}${placeIn(error)}`);
      }
    },
  };
};

const parsedBy = (parse: Parse, template: string): { steps: Template[] } | { error: TemplateError } => {
  try {
    return { steps: parse(template) };
  } catch (error) {
    return { error: { code: "TEMPLATE_SYNTAX", message: syntaxMessage(error) } };
  }
};

/** What is wrong with a template's syntax, null when nothing is. It takes some milliseconds at most. */
export const templateProblem = (template: string): string | null => {
  try {
    sandbox({ limits: templateLimits }).parse(template);
    return null;
  } catch (error) {
    return syntaxMessage(error);
  }
};

const checked = (output: string, contentType: BodyContentType): Rendered => {
  const body = output.toWellFormed();
  if (Buffer.byteLength(body) > templateLimits.outputBytes) return renderError(tooLong(templateLimits));
  const message = contentType === "application/json" ? jsonProblem(body) : null;
  return message === null ? { body } : { error: { code: "INVALID_JSON", message }, output: body };
};

const renderError = (message: string): Rendered => ({ error: { code: "TEMPLATE_RENDER", message } });

const jsonProblem = (body: string): string | null => {
  try {
    JSON.parse(body);
    return null;
  } catch (error) {
    const [, at] = /at position (\d+)/.exec(String(error)) ?? []; // the rest of the message shows the output
    return `the output is no valid JSON${at === undefined ? "" : ` at position ${at}`}`;
  }
};

const placeIn = (error: unknown): string => {
  const place = placeOf(error);
  return place === null ? "" : `, line ${place.line}, column ${place.column}`;
};

const syntaxMessage = (error: unknown): string => {
  const { line, column, message } = faultIn(error, templateLimits);
  return placeOf(error) === null ? message : `${message}, line:${line}, col:${column}`;
};

const cacheLimits = {
  max: 500,
  maxSize: 200_000, // characters: a parsed template takes up to 300 times its text
  sizeCalculation: (_parsed: unknown, { length }: string) => Math.max(length, 1),
};

type Parse = Sandbox["parse"];

/** Keeps the parsed templates that were used last. */
const cached = (parse: Parse): Parse => {
  const parsed = new LRUCache<string, Template[]>({ ...cacheLimits, memoMethod: parse });
  return (template) => parsed.memo(template);
};
