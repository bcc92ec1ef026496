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

/** What one template may use. `characters` of its text; memory is characters and items. */
export type SandboxLimits = { characters: number; outputBytes: number; memory: number };

export type SandboxOptions = {
  limits: SandboxLimits;
  /** Whether what a template writes of values is escaped for HTML; `| raw` leaves it as it is. */
  isHtml?: boolean;
  /** Sees each list of steps before it is rendered. */
  prepare?: (list: readonly Template[]) => void;
  /** Tags beside the usual ones. */
  tags?: Readonly<Record<string, Parameters<Liquid["registerTag"]>[1]>>;
};

export type Sandbox = {
  /** @throws what {@link faultIn} reads */
  parse: (template: string) => Template[];
  /** The paths of values that a template reads, in its partials, too. */
  reads: (parsed: Template[]) => string[][];
  /** @throws what {@link reasonOf} and {@link isOvertime} read, once it takes more processor time than `limitMs` */
  render: (parsed: Template[], values: object, limitMs: number) => string;
};

/** Liquid without files and other templates, with own properties only, and bounded in all that it uses. */
export const sandbox = (options: SandboxOptions): Sandbox => {
  const liquid = bounded(options);
  return {
    parse: (template) => liquid.parse(template),
    reads: (parsed) =>
      liquid.globalVariableSegmentsSync(parsed).map((path) => {
        const end = path.findIndex((name) => typeof name !== "string"); // from there on it depends on values
        return path.slice(0, end === -1 ? undefined : end).map(String);
      }),
    render: (parsed, values, limitMs) => String(liquid.renderSync(parsed, contextOf(liquid, values, limitMs))),
  };
};

const usableTags =
  "# assign break capture case comment continue cycle decrement echo for if increment liquid raw unless".split(" ");

/** Left out are filters that evaluate an expression in a text, choose at random, or search in more than linear time. */
const usableFilters = `abs append at_least at_most base64_decode base64_encode capitalize ceil compact concat date
  date_to_xmlschema default divided_by downcase escape escape_once find first floor group_by has hmac_sha256 join last
  lstrip map minus modulo newline_to_br normalize_whitespace plus prepend push reject remove remove_first remove_last
  replace replace_first replace_last reverse round rstrip sha256 size slice sort sort_natural split strip strip_newlines
  sum times truncate truncatewords uniq upcase url_decode url_encode where`.split(/\s+/);

const bounded = ({ limits, isHtml = false, tags: more = {}, prepare }: SandboxOptions): Liquid => {
  const liquid = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    templates: {}, // instead of the file system
    timezoneOffset: 0,
    parseLimit: limits.characters,
    memoryLimit: limits.memory,
    ...(isHtml && { outputEscape: (value: unknown) => escapeHtml(textOf(value)) }),
  });
  for (const name of Object.keys(tags)) if (!usableTags.includes(name)) delete liquid.tags[name];
  for (const [name, tag] of Object.entries(more)) liquid.registerTag(name, tag);
  registerFilters(liquid, 4 * limits.outputBytes, isHtml);
  const { renderer } = liquid;
  const renderTemplates = renderer.renderTemplates.bind(renderer);
  renderer.renderTemplates = (list, context, emitter = boundedEmitter(context, limits)) => {
    prepare?.(list);
    return renderTemplates(list, context, emitter);
  };
  return liquid;
};

const registerFilters = (liquid: Liquid, maxWeight: number, isHtml: boolean): void => {
  for (const name of Object.keys(filters)) liquid.unregisterFilter(name);
  for (const name of usableFilters) liquid.registerFilter(name, guarded(filters[name], maxWeight));
  liquid.registerFilter("json", json(maxWeight));
  if (isHtml) liquid.registerFilter("raw", { handler: (value: unknown) => value, raw: true });
};

/** Counts the thread's own time, so that a busy machine makes no template slow. */
const contextOf = (liquid: Liquid, values: object, limitMs: number): Context => {
  const globals = values; // partials see them, too
  const context = new Context(values, liquid.options, { sync: true, globals }, { liquid });
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
const guarded = (filter: FilterImplOptions | undefined, maxWeight: number): Filter => {
  if (typeof filter !== "function") throw new Error("no such filter");
  return function (...values) {
    weigh(values, maxWeight);
    return filter.apply(this, values);
  };
};

/** A missing value is null, so that the output stays valid. */
const json = (maxWeight: number): Filter =>
  function (value, ...more) {
    if (more.length > 0) throw new Error("json takes no argument");
    weigh(value, maxWeight);
    const text = JSON.stringify(value ?? null);
    this.context.memoryLimit.use(text.length);
    return text;
  };

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
const boundedEmitter = ({ memoryLimit }: Context, { outputBytes }: SandboxLimits): Emitter => {
  const emitter = {
    buffer: "",
    write: (value: unknown): void => {
      weigh(value, 4 * outputBytes);
      const text = textOf(value);
      memoryLimit.use(text.length);
      if (emitter.buffer.length + text.length > outputBytes) throw new Error(tooLongToWrite);
      emitter.buffer += text;
    },
  };
  return emitter;
};

/** As Liquid writes values; an object, for which it has no text, is written as JSON. */
export const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textOf).join("");
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
};

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" };

/** Safe in the text and in quoted attributes of HTML. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (one) => entities[one] ?? one);

const memoryMessage = "memory alloc limit exceeded"; // liquidjs's own
const timeMessage = "time limit exceeded";
/** Thrown when a text becomes longer than it may. */
export const tooLongToWrite = "output limit exceeded";

export const tooLong = ({ outputBytes }: SandboxLimits): string => `writes more than ${outputBytes} bytes`;

export const isOvertime = (error: unknown): boolean => messageOf(error).startsWith(timeMessage);

/** Why a template could not be rendered; it shows nothing of the values. */
export const reasonOf = (error: unknown, limits: SandboxLimits): string => {
  const message = messageOf(error);
  if (message.startsWith(memoryMessage)) return "needs too much memory";
  return message.startsWith(tooLongToWrite) ? tooLong(limits) : "cannot be rendered";
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "");

/** A place in a template, both counted from 1. */
export type Place = { line: number; column: number };

/** Where a template failed; null where Liquid does not say. */
export const placeOf = (error: unknown): Place | null => {
  if (!LiquidError.is(error)) return null;
  const [, line, column] = /line:(\d+), col:(\d+)$/.exec(error.message) ?? [];
  return line === undefined ? null : { line: Number(line), column: Number(column) };
};

/** What is wrong with a template's syntax, and where: it shows parts of the template only. */
export const faultIn = (error: unknown, { characters }: SandboxLimits): Place & { message: string } => {
  const place = placeOf(error) ?? { line: 1, column: 1 };
  const isTooDeep = error instanceof RangeError || (LiquidError.is(error) && error.originalError instanceof RangeError);
  if (isTooDeep) return { ...place, message: "is nested too deeply" };
  if (LiquidError.is(error)) {
    const said = error.message.replace(/, line:\d+, col:\d+$/, "").replace(/, file:[^,]*$/, "");
    return { ...place, message: said.replaceAll(/\s+/g, " ").slice(0, 200) };
  }
  return { ...place, message: `must have at most ${characters} characters` };
};
