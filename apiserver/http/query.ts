import type { TObject, TSchema } from "typebox";
import { parser } from "#core/schema/json/parser.ts";

/** A parser that is compiled when first used: most processes never serve most operations. */
export const parserOnDemand = (schema: TSchema) => {
  let parse: ((input: unknown) => unknown) | undefined;
  return (input: unknown): unknown => {
    parse ??= parser(schema);
    return parse(input);
  };
};

/**
 * Parses the query of an operation. Its members are text; those of another type are read as that. Unknown ones are ignored,
 * unless the schema is closed: then they are refused. A list is given by repeating its member, by commas, or both. What cannot be read is left for the schema to refuse.
 */
export const queryParser = (schema: TObject) => {
  const parse = parserOnDemand(schema);
  const properties = Object.entries(schema.properties);
  const isClosed = "additionalProperties" in schema && schema.additionalProperties === false;
  const names = new Set(Object.keys(schema.properties));
  return (input: unknown): unknown => {
    const given = new Map(Object.entries(input ?? {}));
    const read = properties.filter(([name]) => given.has(name)).map(([name, of]) => [name, typed(of, given.get(name))]);
    const unknown = isClosed ? [...given].filter(([name]) => !names.has(name)) : [];
    return parse(Object.fromEntries([...read, ...unknown]));
  };
};

/** A value as its schema wants it, if it can be read so. */
const typed = (schema: TSchema, value: unknown): unknown => {
  const type = "type" in schema ? schema.type : undefined;
  if (type === "array")
    return listOf(value).map((item) => ("items" in schema ? typed(schema.items as TSchema, item) : item));
  if (type === "integer" && typeof value === "string" && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  return value;
};

const listOf = (value: unknown): unknown[] =>
  [value].flat().flatMap((item) => (typeof item === "string" ? item.split(",") : [item]));
