import { type Filter, type Output, type Template, TokenKind, TypeGuards } from "liquidjs";
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

type Part = string | ((values: object) => string);

const partOf = (step: Template, isHtml: boolean): Part | null => {
  if (TypeGuards.isHTMLToken(step.token)) return step.token.getContent();
  return step.token.kind === TokenKind.Output ? valueOf(step as Output, isHtml) : null; // sound: the parser makes it so
};

const valueOf = ({ value: { initial, filters } }: Output, isHtml: boolean): Part | null => {
  const path = pathOf(initial.postfix);
  const own = isHtml ? filters.slice(0, -1) : filters; // Liquid adds the escaping behind those that are written
  if (path === null || own.length > 1 || (isHtml && filters.at(-1)?.raw !== false)) return null;
  const otherwise = own[0] === undefined ? null : defaultOf(own[0]);
  if (own.length === 1 && otherwise === null) return null;
  const written = isHtml ? (one: unknown) => escapeHtml(textOf(one)) : textOf;
  if (otherwise === null) return (values) => written(lookUp(values, path));
  return (values) => {
    const found = lookUp(values, path);
    return written(isFilled(found) ? found : otherwise);
  };
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

const lookUp = (values: object, path: readonly string[]): unknown => {
  let found: unknown = values;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = Reflect.get(found, name);
  }
  return found;
};

/** As Liquid's `default` sees it. */
const isFilled = (value: unknown): boolean =>
  typeof value === "string" || Array.isArray(value)
    ? value.length > 0
    : value !== false && value !== null && value !== undefined;
