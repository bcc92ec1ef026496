import {
  Context,
  type Emitter,
  type FilterImplOptions,
  filters,
  Liquid,
  LiquidError,
  type Template,
  tags,
} from "liquidjs";
import { LRUCache } from "lru-cache";
import { templateLimits } from "./limits.ts";

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

/** Renders Liquid templates in a sandbox: no files, no other templates, own properties only, bounded in all they use. */
export const templateEngine = (): TemplateEngine => {
  const liquid = sandbox();
  const parse = cached((template) => liquid.parse(template));
  return {
    render: (template, contentType, envelope, limitMs) => {
      const parsed = parsedBy(parse, template);
      if ("error" in parsed) return parsed;
      try {
        const output: unknown = liquid.renderSync(parsed.steps, contextOf(liquid, envelope, limitMs));
        return checked(String(output), contentType);
      } catch (error) {
        const message = error instanceof Error ? error.message : "";
        return message.startsWith(timeMessage) ? "overtime" : renderError(`${reasonOf(message)}${placeOf(error)}`);
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
    sandbox().parse(template);
    return null;
  } catch (error) {
    return syntaxMessage(error);
  }
};

const usableTags =
  "# assign break capture case comment continue cycle decrement echo for if increment liquid raw unless";

/** Left out are filters that evaluate an expression in a text, choose at random, or search in more than linear time. */
const usableFilters = `abs append at_least at_most base64_decode base64_encode capitalize ceil compact concat date
  date_to_xmlschema default divided_by downcase escape escape_once find first floor group_by has hmac_sha256 join last
  lstrip map minus modulo newline_to_br normalize_whitespace plus prepend push reject remove remove_first remove_last
  replace replace_first replace_last reverse round rstrip sha256 size slice sort sort_natural split strip strip_newlines
  sum times truncate truncatewords uniq upcase url_decode url_encode where`;

const sandbox = (): Liquid => {
  const liquid = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    templates: {}, // instead of the file system
    timezoneOffset: 0,
    parseLimit: templateLimits.characters,
    memoryLimit: templateLimits.memory,
  });
  const [keptTags, keptFilters] = [usableTags.split(" "), usableFilters.split(/\s+/)];
  for (const name of Object.keys(tags)) if (!keptTags.includes(name)) delete liquid.tags[name];
  for (const name of Object.keys(filters)) liquid.unregisterFilter(name);
  for (const name of keptFilters) liquid.registerFilter(name, guarded(filters[name]));
  liquid.registerFilter("json", json);
  const { renderer } = liquid;
  const renderTemplates = renderer.renderTemplates.bind(renderer);
  renderer.renderTemplates = (list, context, emitter = boundedEmitter(context)) =>
    renderTemplates(list, context, emitter);
  return liquid;
};

/** Counts the thread's own time, so that a busy machine makes no template slow. */
const contextOf = (liquid: Liquid, envelope: object, limitMs: number): Context => {
  const context = new Context(envelope, liquid.options, { sync: true }, { liquid });
  const begun = process.threadCpuUsage();
  let lookAtMs = performance.now() + limitMs; // the limit cannot be reached before
  context.renderLimit.check = (nowMs) => {
    if (nowMs < lookAtMs) return;
    const { user, system } = process.threadCpuUsage(begun);
    const leftMs = limitMs - (user + system) / 1000;
    if (leftMs <= 0) throw new Error(timeMessage);
    lookAtMs = nowMs + leftMs;
  };
  return context;
};

type Filter = Extract<FilterImplOptions, (...values: never[]) => unknown>;

/** Limits what a filter is given: some filters join lists before they count the size of the output. */
const guarded = (filter: FilterImplOptions | undefined): Filter => {
  if (typeof filter !== "function") throw new Error("no such filter");
  return function (...values) {
    weigh(values, maxWeight);
    return filter.apply(this, values);
  };
};

/** A missing value is null, so that the output stays valid. */
const json: Filter = function (value, ...more) {
  if (more.length > 0) throw new Error("json takes no argument");
  weigh(value, maxWeight);
  const text = JSON.stringify(value ?? null);
  this.context.memoryLimit.use(text.length);
  return text;
};

const maxWeight = 4 * templateLimits.outputBytes;

/** Counts characters and items, at most `left`; returns how many more there may be. */
const weigh = (value: unknown, left: number): number => {
  let rest = left - 1;
  if (typeof value === "string") rest -= value.length;
  else if (Array.isArray(value)) for (const item of value) rest = weigh(item, rest);
  else if (typeof value === "object" && value !== null)
    for (const [name, member] of Object.entries(value)) rest = weigh(member, rest - name.length);
  if (rest < 0) throw new Error(memoryMessage);
  return rest;
};

/** Bounds what is written, into a variable too. */
const boundedEmitter = ({ memoryLimit }: Context): Emitter => {
  const emitter = {
    buffer: "",
    write: (value: unknown): void => {
      weigh(value, maxWeight);
      const text = textOf(value);
      memoryLimit.use(text.length);
      if (emitter.buffer.length + text.length > templateLimits.outputBytes) throw new Error(outputMessage);
      emitter.buffer += text;
    },
  };
  return emitter;
};

/** As Liquid writes values; an object, for which it has no text, is written as JSON. */
const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textOf).join("");
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
};

const checked = (output: string, contentType: BodyContentType): Rendered => {
  const body = output.toWellFormed();
  if (Buffer.byteLength(body) > templateLimits.outputBytes) return renderError(tooLong);
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

const memoryMessage = "memory alloc limit exceeded"; // liquidjs's own
const timeMessage = "time limit exceeded";
const outputMessage = "output limit exceeded";
const tooLong = `writes more than ${templateLimits.outputBytes} bytes`;

const reasonOf = (message: string): string => {
  if (message.startsWith(memoryMessage)) return "needs too much memory";
  return message.startsWith(outputMessage) ? tooLong : "cannot be rendered";
};

const placeOf = (error: unknown): string => {
  const [, line, column] = (LiquidError.is(error) && /line:(\d+), col:(\d+)$/.exec(error.message)) || [];
  return line === undefined ? "" : `, line ${line}, column ${column}`;
};

/** Shows parts of the template only. */
const syntaxMessage = (error: unknown): string => {
  if (LiquidError.is(error)) return error.message.replaceAll(/\s+/g, " ").slice(0, 200);
  if (error instanceof RangeError) return "is nested too deeply";
  return `must have at most ${templateLimits.characters} characters`;
};

const cacheLimits = {
  max: 500,
  maxSize: 200_000, // characters: a parsed template takes up to 300 times its text
  sizeCalculation: (_parsed: unknown, { length }: string) => Math.max(length, 1),
};

type Parse = (template: string) => Template[];

/** Keeps the parsed templates that were used last. */
const cached = (parse: Parse): Parse => {
  const parsed = new LRUCache<string, Template[]>({ ...cacheLimits, memoMethod: parse });
  return (template) => parsed.memo(template);
};
