import { wordsOf } from "#core/schema/json/patterns.ts";
import { escaped } from "../../http/markup.ts";
import { code, value } from "../html.ts";
import { formsOf, isNull, isRefused, referred, type Schema, type SchemaObject, unwrapped, valuesOf } from "./schema.ts";

/** What is said of a value that may be anything. */
export const anything = "any JSON";

/** What a value is, in a few words: `list of string`, `integer or null`. A named schema is a link below `root`. */
export const kindOf = (given: Schema, root: string): string => {
  if (given === true) return anything;
  if (given === false || isRefused(given)) return "refused";
  const schema = unwrapped(given);
  const name = referred(schema);
  if (name !== undefined) return `<a href="${root}schemas/${escaped(name)}">${escaped(name)}</a>`;
  if (schema.const !== undefined) return value(schema.const);
  if (schema.enum !== undefined) return anyOf(schema.enum.map((one) => (one === null ? "null" : typeof one)));
  if (isChoice(schema)) return anyOf((schema.anyOf ?? schema.oneOf ?? []).map((form) => kindOf(form, root)));
  return ofType(schema, root);
};

const isChoice = (schema: SchemaObject): boolean => formsOf(schema).length > 0;

const anyOf = (kinds: readonly string[]): string => {
  const all = [...new Set(kinds)];
  return all.length > mostKinds ? `one of ${all.length} forms` : all.join(" or ");
};

const mostKinds = 6; // more are shown as forms below

const ofType = (schema: SchemaObject, root: string): string => {
  const values = valuesOf(schema);
  if (schema.contentMediaType !== undefined) return `file (${escaped(schema.contentMediaType)})`;
  if (schema.type === "array" || schema.items !== undefined) return `list of ${kindOf(schema.items ?? true, root)}`;
  if (values !== undefined) return `map of names to ${kindOf(values, root)}`;
  if (schema.type === undefined) return anything;
  return [schema.type].flat().join(" or ");
};

/** What else a value has to keep to, each a phrase of HTML; of a list and a map also what their items have to. */
export const boundsOf = (given: Schema): string[] => {
  if (typeof given === "boolean" || isRefused(given)) return [];
  const schema = unwrapped(given);
  const [only, ...more] = formsOf(schema);
  const ofForm = only !== undefined && more.length === 0 ? boundsOf(only) : [];
  return [
    ...namesIn(schema),
    ...sizes.flatMap(([least, most, noun]) => between(schema[least], schema[most], noun)),
    ...(schema.exclusiveMinimum === undefined ? [] : [`more than ${schema.exclusiveMinimum}`]),
    ...(schema.exclusiveMaximum === undefined ? [] : [`less than ${schema.exclusiveMaximum}`]),
    ...(schema.uniqueItems === true ? ["none twice"] : []),
    ...(schema.format === undefined ? [] : [`format ${code(schema.format)}`]),
    ...patternOf(schema),
    ...exceptOf(schema),
    ...(schema.default === undefined ? [] : [`default ${value(schema.default)}`]),
    ...labelled("each name", schema.propertyNames === undefined ? [] : boundsOf(schema.propertyNames)),
    ...labelled("each", boundsOf(schema.items ?? valuesOf(schema) ?? true)),
    ...ofForm,
  ];
};

const namesIn = ({ enum: values }: SchemaObject): string[] =>
  values === undefined ? [] : [`one of ${values.map((one) => value(one)).join(", ")}`];

const sizes = [
  ["minLength", "maxLength", "character"],
  ["minItems", "maxItems", "item"],
  ["minProperties", "maxProperties", "member"],
  ["minimum", "maximum", ""],
] as const;

const between = (least: number | undefined, most: number | undefined, noun: string): string[] => {
  const counted = (count: number): string =>
    `${figure(count)}${noun === "" ? "" : ` ${noun}${count === 1 ? "" : "s"}`}`;
  if (least !== undefined && least === most) return [`exactly ${counted(least)}`];
  if (least !== undefined && most !== undefined) return [`${figure(least)} to ${counted(most)}`];
  if (least !== undefined) return [`at least ${counted(least)}`];
  return most === undefined ? [] : [`at most ${counted(most)}`];
};

const figure = (count: number): string => count.toLocaleString("en");

const patternOf = ({ pattern }: SchemaObject): string[] => {
  if (pattern === undefined) return [];
  const words = wordsOf(pattern);
  return words === undefined ? [`matches ${code(pattern)}`] : [`${escaped(words)} (${code(pattern)})`];
};

const exceptOf = ({ not, contains }: SchemaObject): string[] => [
  ...(contains?.const === undefined ? [] : [`has ${value(contains.const)}`]),
  ...(typeof not !== "object" ? [] : [...patternsNot(not), ...exceptOf(not).map((phrase) => `not one that ${phrase}`)]),
];

const patternsNot = ({ pattern }: SchemaObject): string[] =>
  pattern === undefined ? [] : [`not one that ${escaped(wordsOf(pattern) ?? `matches ${pattern}`)}`];

const labelled = (label: string, phrases: readonly string[]): string[] =>
  phrases.length === 0 ? [] : [`${label}: ${phrases.join(", ")}`];

/** How a form is told from the others: by the value of a member that has only one, else by what it is. */
export const nameOfForm = (form: Schema, root: string): string => {
  const [name, only] =
    typeof form === "object" ? (Object.entries(form.properties ?? {}).find(([, member]) => constOf(member)) ?? []) : [];
  if (name === undefined || typeof only !== "object") return kindOf(form, root);
  return `${code(name)} is ${value(only.const)}`;
};

const constOf = (member: Schema): boolean =>
  typeof member === "object" && member.const !== undefined && !isNull(member);
