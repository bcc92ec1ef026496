import { hasLiquid, isHtmlMember, textsOf, withTexts } from "../../../domain/content/texts.ts";
import { ValidationError } from "../../../errors.ts";
import { parser } from "../../../schema/json/parser.ts";
import { Content } from "../../../schema/messages/notification.ts";
import { contentLimits } from "../limits.ts";
import { faultIn, isOvertime, placeOf, reasonOf, sandbox } from "../sandbox.ts";
import type { Fault } from "./faults.ts";
import { plainSteps, plainText } from "./plain.ts";
import { Aborted, contentTags, type PartialOf } from "./tags.ts";

/** What a template says in one language, with the texts of the partials that it renders. */
export type ContentTemplate = { content: Content; partials: Readonly<Record<string, string>> };

/** What templates read: `user`, `subscription`, `app`, `custom_data`. */
export type ContentValues = Readonly<Record<string, unknown>>;

/** What a recipient is sent, or why they are sent nothing. A fault shows nothing of the values. */
export type RenderedContent = { content: Content } | { aborted: string } | { fault: Fault };

export type ContentRenderer = {
  /** Whether it takes microseconds for every recipient: it has no tags, and no filters but defaults. */
  isPlain: boolean;
  /** `overtime` when a text takes more processor time than `limitMs`. */
  render: (values: ContentValues, limitMs: number) => RenderedContent | "overtime";
};

/** Parses a template once, to render it for many. Source: docs/reference/templates.md#liquid. */
export const contentRenderer = ({ content, partials }: ContentTemplate): ContentRenderer => {
  const writers = new Map<string, Writer>();
  const fault = parseInto(writers, content, partials);
  const varying = varyingOf(content, writers);
  const isFormed = formFault(content) === null; // then no member with a form has Liquid
  return {
    isPlain: fault !== null || [...writers.values()].every(({ isPlain }) => isPlain),
    render: (values, limitMs) => {
      if (fault !== null) return { fault };
      const rendered = renderedBy(writers, varying, values, limitMs);
      if (typeof rendered === "object" && "content" in rendered) rendered.content = { ...content, ...rendered.content };
      return isFormed ? rendered : formed(rendered);
    },
  };
};

type Writer = { isPlain: boolean; write: (values: ContentValues, limitMs: number) => string };

/** The first fault; null when there is none. */
const parseInto = (
  writers: Map<string, Writer>,
  content: Content,
  partials: ContentTemplate["partials"],
): Fault | null => {
  const engines = { text: engine(partials, false), html: engine(partials, true) };
  for (const { member, text } of textsOf(content)) {
    if (!hasLiquid(text)) continue;
    try {
      writers.set(member, (isHtmlMember(member) ? engines.html : engines.text)(text));
    } catch (error) {
      return { member, ...faultIn(error, contentLimits) };
    }
  }
  return null;
};

const engine = (partials: ContentTemplate["partials"], isHtml: boolean) => {
  const partialOf: PartialOf = (name) => {
    const text = Object.hasOwn(partials, name) ? partials[name] : undefined;
    if (text === undefined) throw new Error(`there is no published partial "${name}"`);
    return liquid.parse(text);
  };
  const liquid = sandbox({ limits: contentLimits, isHtml, prepare: plainSteps(isHtml), tags: contentTags(partialOf) });
  return (text: string): Writer => {
    const steps = liquid.parse(text);
    const write = plainText(steps, isHtml, contentLimits.outputBytes);
    if (write !== null) return { isPlain: true, write };
    return { isPlain: false, write: (values, limitMs) => liquid.render(steps, values, limitMs) };
  };
};

/** The members of a content in which a template writes: the others are the same for everybody. */
const varyingOf = (content: Content, writers: ReadonlyMap<string, Writer>): Content => {
  const names = new Set([...writers.keys()].map((member) => /^[^.[]+/.exec(member)?.[0]));
  return Object.fromEntries(Object.entries(content).filter(([name]) => names.has(name)));
};

const renderedBy = (
  writers: ReadonlyMap<string, Writer>,
  content: Content,
  values: ContentValues,
  limitMs: number,
): RenderedContent | "overtime" => {
  let at = "";
  try {
    const rendered = withTexts(content, (text, member) => {
      at = member;
      return writers.get(member)?.write(values, limitMs).toWellFormed() ?? text;
    });
    return { content: rendered };
  } catch (error) {
    if (isOvertime(error)) return "overtime";
    const reason = abortIn(error);
    if (reason !== null) return { aborted: reason };
    return { fault: { member: at, ...(placeOf(error) ?? firstPlace), message: reasonOf(error, contentLimits) } };
  }
};

/** What of a content has not the form that its member asks for, such as an address. */
const formFault = (content: Content): Fault | null => {
  try {
    parseContent(content);
    return null;
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const { field, message } = error.details as { field: string; message: string }; // every ValidationError has them
    return { member: field, ...firstPlace, message };
  }
};

const parseContent = parser(Content);

const formed = (rendered: RenderedContent | "overtime"): RenderedContent | "overtime" => {
  const fault = typeof rendered === "object" && "content" in rendered ? formFault(rendered.content) : null;
  return fault === null ? rendered : { fault };
};

const firstPlace = { line: 1, column: 1 };

/** Liquid wraps what its tags throw. */
const abortIn = (error: unknown): string | null => {
  if (error instanceof Aborted) return error.reason;
  const cause: unknown = error instanceof Error ? Reflect.get(error, "originalError") : undefined;
  return cause === undefined ? null : abortIn(cause);
};
