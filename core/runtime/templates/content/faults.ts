import { hasLiquid, isHtmlMember, type MemberText, textsOf } from "../../../domain/content/texts.ts";
import type { Content } from "../../../schema/messages/notification.ts";
import { contentLimits } from "../limits.ts";
import { faultIn, type Place, sandbox } from "../sandbox.ts";
import { contentTags, type PartialOf } from "./tags.ts";

/** What is wrong with a template, and where in which member. */
export type Fault = Place & { member: string; message: string };

/** What the Liquid of a content is: its faults, and the names of the partials that it renders. */
export type Judged = { faults: Fault[]; partials: string[] };

/** Which partials a content may render: those there are; `any` in a draft; `none` in a partial itself. */
export type Partials = ReadonlySet<string> | "any" | "none";

/** Judges the Liquid of every text of a content; it takes some tens of milliseconds at most. Source: docs/reference/templates.md#liquid. */
export const judgeLiquid = (content: Content, partials: Partials): Judged => {
  const named = new Set<string>();
  const liquid = engines(known(partials, named));
  const texts = textsOf(content).filter(({ text }) => hasLiquid(text));
  const tooMany = tooManySteps(texts);
  const faults = tooMany === null ? texts.flatMap((one) => faultOf(one, liquid(one.member).parse)) : [tooMany];
  return { faults: faults.slice(0, mostFaults), partials: [...named] };
};

const mostFaults = 20;

/** Parses a text of a member as it is rendered. */
const engines = (partialOf: PartialOf) => {
  const of = (isHtml: boolean) => sandbox({ limits: contentLimits, isHtml, tags: contentTags(partialOf) });
  const [text, html] = [of(false), of(true)];
  return (member: string) => (isHtmlMember(member) ? html : text);
};

const known =
  (partials: Partials, named: Set<string>): PartialOf =>
  (name) => {
    if (partials === "none") throw new Error("a partial cannot render another one");
    if (partials !== "any" && !partials.has(name)) throw new Error(`there is no published partial "${name}"`);
    named.add(name);
    return [];
  };

const faultOf = ({ member, text }: MemberText, parse: (text: string) => unknown): Fault[] => {
  try {
    for (const { 0: step, index } of text.matchAll(steps))
      if (step.length > contentLimits.stepCharacters) return [{ member, ...placeAt(text, index), message: tooLong }];
    parse(text);
    return [];
  } catch (error) {
    return [{ member, ...faultIn(error, contentLimits) }];
  }
};

const tooLong = `an output or tag has at most ${contentLimits.stepCharacters} characters`;

/** Outputs and tags, also those that do not end. */
const steps = /\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$)/gs;

const tooManySteps = (texts: readonly MemberText[]): Fault | null => {
  let left: number = contentLimits.steps;
  for (const { member, text } of texts)
    for (const { index } of text.matchAll(/\{[{%]/g)) {
      left--;
      if (left < 0)
        return { member, ...placeAt(text, index), message: `more than ${contentLimits.steps} outputs and tags` };
    }
  return null;
};

/** Outputs and tags of all texts of a template, and of its partials. */
export const stepsIn = ({
  content,
  partials,
}: {
  content: Content;
  partials: Readonly<Record<string, string>>;
}): number =>
  [...textsOf(content).map(({ text }) => text), ...Object.values(partials)]
    .map((text) => text.split(/\{[{%]/).length - 1)
    .reduce((sum, steps) => sum + steps, 0);

const placeAt = (text: string, at: number): Place => {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
};
