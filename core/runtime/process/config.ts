import { readFileSync, statSync } from "node:fs";
import type { Static, TObject, TSchema } from "typebox";
import { ValidationError } from "../../errors.ts";
import { parser } from "../../schema/json/parser.ts";

/** A settings schema: a flat object whose properties each name their environment variable in `env`. */
export type ConfigSchema = TObject;

/** One or more settings that a program cannot start with. Names every bad key at once, and no secret's value. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(`bad configuration:\n${problems.map(({ key, message }) => `  ${key} ${message}`).join("\n")}`);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** One bad key, e.g. `HERALD_HTTP_PORT`, and half a sentence that says what is wrong with it. */
export type ConfigProblem = { key: string; message: string };

/**
 * Reads a program's settings from its environment, checks them all and freezes them. `<KEY>_FILE` names a file that
 * has the value (mounted Secrets); an empty variable counts as absent. Lists are separated by commas.
 * @throws ConfigError naming every bad key
 */
export const loadConfig = <S extends ConfigSchema>(schema: S, env: NodeJS.ProcessEnv): Readonly<Static<S>> => {
  const problems: ConfigProblem[] = [];
  const values: Record<string, unknown> = {};
  const defaults: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const given = readKey(keyOf(name, property), env);
    if (given.problem !== undefined) problems.push({ key: keyOf(name, property), message: given.problem });
    if (given.text !== undefined) values[name] = coerce(given.text, property);
    else if (defaultOf(property) !== undefined) defaults[name] = defaultOf(property);
  }
  const unread = new Set(problems.map(({ key }) => key));
  problems.push(...check(schema, values).filter(({ key }) => !unread.has(key)));
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze({ ...defaults, ...values }) as Readonly<Static<S>>; // sound: check() found nothing
};

/** Settings as they may be logged: secrets as `set` or `unset`, passwords in addresses masked. */
export const describeConfig = <S extends ConfigSchema>(
  schema: S,
  config: Readonly<Static<S>>,
): Record<string, unknown> => {
  const values = new Map<string, unknown>(Object.entries(config));
  const entries = Object.entries(schema.properties).map(([name, property]) => [
    name,
    describe(property, values.get(name)),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>; // sound: pairs of name and value
};

/** Hides the password of every address with credentials in a text. */
export const maskPasswords = (text: string): string =>
  text.includes("://") ? text.replaceAll(/(:\/\/[^\s:/@]*):[^\s@/]+@/g, "$1:***@") : text;

const keyOf = (name: string, property: TSchema): string => {
  const key = "env" in property ? property["env"] : undefined;
  if (typeof key !== "string") throw new TypeError(`setting ${name} names no environment variable`);
  return key;
};

const defaultOf = (property: TSchema): unknown => ("default" in property ? property.default : undefined);

const maxFileBytes = 65_536; // a key ring of a thousand keys; anything larger is the wrong file

const readKey = (key: string, env: NodeJS.ProcessEnv): { text?: string; problem?: string } => {
  const text = env[key] || undefined;
  const path = env[`${key}_FILE`] || undefined;
  if (path === undefined) return text === undefined ? {} : { text };
  if (text !== undefined) return { problem: `is given twice: remove it or ${key}_FILE` };
  try {
    if (statSync(path).size > maxFileBytes)
      return { problem: `is in a file larger than ${maxFileBytes} bytes: ${path}` };
    return { text: readFileSync(path, "utf8").replace(/\r?\n$/, "") };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "error";
    return { problem: `cannot be read from ${path} (${code})` };
  }
};

/** Text to the property's JSON type; text that has not its form is left for the check to refuse. */
const coerce = (text: string, property: TSchema): unknown => {
  switch ("type" in property ? property.type : undefined) {
    case "integer":
    case "number":
      return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
    case "boolean":
      return text === "true" || (text === "false" ? false : text);
    case "array":
      return text.split(",").flatMap((item) => (item.trim() === "" ? [] : [coerce(item.trim(), itemsOf(property))]));
    default:
      return text;
  }
};

const itemsOf = (list: TSchema): TSchema => ("items" in list ? (list.items as TSchema) : {}); // an array's, as Ajv checks

/** A test checks the defaults: to compile their checks as well would be a twentieth of what a start costs. */
const withoutDefaults = (schema: ConfigSchema, values: Readonly<Record<string, unknown>>): TSchema => {
  const isChecked = (name: string): boolean => name in values || defaultOf(schema.properties[name] ?? {}) === undefined;
  const properties = Object.entries(schema.properties).filter(([name]) => isChecked(name));
  return { ...schema, properties: Object.fromEntries(properties), required: schema.required?.filter(isChecked) };
};

const check = (schema: ConfigSchema, values: Readonly<Record<string, unknown>>): ConfigProblem[] => {
  try {
    parser(withoutDefaults(schema, values))(values);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const errors = error.details["errors"] as { field: string; message: string }[]; // sound: its constructor's own
    return errors.map(({ field, message }) => problemOf(schema, field, message));
  }
};

const problemOf = (schema: ConfigSchema, field: string, message: string): ConfigProblem => {
  const [name = ""] = field.split(/[.[]/, 1);
  const property = schema.properties[name];
  return { key: property === undefined ? field : `${keyOf(name, property)}${field.slice(name.length)}`, message };
};

const describe = (property: TSchema, value: unknown): unknown => {
  if ("secret" in property && property["secret"] === true) return value === undefined ? "unset" : "set";
  return typeof value === "string" ? maskPasswords(value) : (value ?? null);
};
