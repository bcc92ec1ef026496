import {
  type Context,
  Drop,
  type Emitter,
  type Filter,
  type Output,
  type Template,
  TokenKind,
  TypeGuards,
} from "liquidjs";
import { escapeHtml, textOf, tooLongToWrite } from "../sandbox.ts";

/** Writes a text with values. @throws Error when it becomes longer than it may */
export type Write = (values: object) => string;

/**
 * A text of literals, values by their path, and defaults, without the steps of Liquid; null for one that has more. What it
 * writes is what Liquid writes.
 */
export const plainText = (steps: readonly Template[], isHtml: boolean, outputBytes: number): Write | null => {
  const parts = steps.map((step) => partOf(step, isHtml));
  if (!parts.every((part) => part !== null)) return null;
  return (values) => {
    let text = "";
    for (const part of parts) {
      text += typeof part === "string" ? part : part(values);
      if (text.length > outputBytes) throw new Error(tooLongToWrite);
    }
    return text;
  };
};

/**
 * Has literals, values by their path and defaults of a list written without the steps of Liquid, of which each costs
 * microseconds: inside loops. What they write is what Liquid writes; a value of Liquid's own, such as `forloop`, is left to it.
 */
export const plainSteps = (isHtml: boolean): ((list: readonly Template[]) => void) => {
  const known = new WeakSet<readonly Template[]>();
  return (list) => {
    if (known.has(list)) return;
    known.add(list);
    for (const step of list) {
      const write = writerOf(step, isHtml);
      if (write !== null) Object.assign(step, { render: write }); // what yields nothing need not be a generator
    }
  };
};

/** The members of Liquid's context that its types hide. */
type Scopes = { findScope: (name: string) => unknown };
type Render = (context: Context, emitter: Emitter) => unknown;

const writerOf = (step: Template, isHtml: boolean): Render | null => {
  if (TypeGuards.isHTMLToken(step.token)) {
    const text = step.token.getContent();
    return (_, emitter) => emitter.write(text);
  }
  if (step.token.kind !== TokenKind.Output) return null;
  const plain = plainOutput(step as Output, isHtml); // sound: the parser makes it so
  if (plain === null) return null;
  const usual = step.render.bind(step);
  return (context, emitter) => {
    const scope = (context as unknown as Scopes).findScope(plain.path[0] ?? ""); // sound: by the version that is pinned
    const found = lookUp(scope, plain.path);
    return isLiquids(found) ? usual(context, emitter) : emitter.write(plain.written(found));
  };
};

type Part = string | ((values: object) => string);

const partOf = (step: Template, isHtml: boolean): Part | null => {
  if (TypeGuards.isHTMLToken(step.token)) return step.token.getContent();
  return step.token.kind === TokenKind.Output ? valueOf(step as Output, isHtml) : null; // sound: the parser makes it so
};

const valueOf = (output: Output, isHtml: boolean): Part | null => {
  const plain = plainOutput(output, isHtml);
  if (plain === null) return null;
  const { path, written } = plain;
  return (values) => written(lookUp(values, path));
};

type PlainOutput = { path: readonly string[]; written: (found: unknown) => string };

/** An output that is a value by its path, with a default at most; null for any other. */
const plainOutput = ({ value: { initial, filters } }: Output, isHtml: boolean): PlainOutput | null => {
  const path = pathOf(initial.postfix);
  const own = isHtml ? filters.slice(0, -1) : filters; // Liquid adds the escaping behind those that are written
  if (path === null || own.length > 1 || (isHtml && filters.at(-1)?.raw !== false)) return null;
  const otherwise = own[0] === undefined ? null : defaultOf(own[0]);
  if (own.length === 1 && otherwise === null) return null;
  const written = isHtml ? (one: unknown) => escapeHtml(textOf(one)) : textOf;
  return otherwise === null
    ? { path, written }
    : { path, written: (found) => written(isFilled(found) ? found : otherwise) };
};

/** Members that lists and texts have without owning them. */
const special = new Set(["size", "first", "last"]);

const pathOf = (expression: Output["value"]["initial"]["postfix"]): string[] | null => {
  const [access, ...others] = expression;
  if (others.length > 0 || !TypeGuards.isPropertyAccessToken(access) || access.variable !== undefined) return null;
  const names = access.props.map((prop) =>
    TypeGuards.isWordToken(prop) || TypeGuards.isQuotedToken(prop) ? prop.content : null,
  );
  return names.every((name) => name !== null && !special.has(name)) ? names.filter((name) => name !== null) : null;
};

const defaultOf = ({ name, args: [given, ...others] }: Filter): string | null => {
  const isPlain = name === "default" && others.length === 0 && given !== undefined && !Array.isArray(given);
  return isPlain && TypeGuards.isQuotedToken(given) ? given.content : null;
};

/** A value of Liquid's own on the way is what is found. */
const lookUp = (values: unknown, path: readonly string[]): unknown => {
  let found = values;
  for (const name of path) {
    if (isLiquids(found)) return found;
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = Reflect.get(found, name);
  }
  return found;
};

const isLiquids = (value: unknown): boolean => value instanceof Drop;

/** As Liquid's `default` sees it. */
const isFilled = (value: unknown): boolean =>
  typeof value === "string" || Array.isArray(value)
    ? value.length > 0
    : value !== false && value !== null && value !== undefined;
