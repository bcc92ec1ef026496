import { allDefinitions } from "#core/channels/all.ts";
import { restMembers } from "#core/channels/kit/account.ts";
import { settingFeatures, settingNames, settingSchemas } from "#core/schema/apps/settings.ts";
import { code, codes, figure, table } from "./markdown.ts";

/** What is read of a setting's schema. */
type Schema = {
  type?: string;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  properties?: Record<string, Schema>;
  items?: Schema;
  default?: unknown;
  description?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
};

/** The table of docs/reference/settings.md: every setting, and the members of those that are objects. */
export const settingsTable = (): string =>
  table(
    ["Member", "Type", "Default", "Bounds", "What it says"],
    settingNames.flatMap((name) => rowsOf(name, settingSchemas[name] as Schema, needs(name))), // sound: schemas are JSON
  );

/** The tables of docs/reference/channels.md: what the account of each channel is set up with. */
export const accountTables = (): Record<string, string> => ({
  "account settings": table(
    ["Channel", "Member of `settings`", "Type", "Default", "Bounds", "What it says"],
    allDefinitions.flatMap(({ name: channel, account }) =>
      Object.entries(restMembers(account).properties)
        .flatMap(([name, schema]) => rowsOf(name, schema as Schema)) // sound: schemas are JSON
        .map((row) => [code(channel), ...row]),
    ),
  ),
  "account secrets": table(
    ["Channel", "`provider`", "`secrets`"],
    allDefinitions.map(({ name, providers, account }) => [code(name), codes([...providers]), account.secretHolds]),
  ),
});

const needs = (name: (typeof settingNames)[number]): string => {
  const feature = settingFeatures[name];
  return feature === undefined ? "" : `; needs ${code(feature)} of the plan`;
};

const rowsOf = (path: string, given: Schema, more = ""): string[][] => {
  const schema = { ...given, ...innerOf(given) };
  const { properties, items, description = "" } = schema;
  const below = { ...properties, ...(items && innerOf(items).properties) };
  const prefix = items === undefined ? path : `${path}[]`;
  const own = [code(path), typeOf(given), defaultOf(given), boundsOf(schema), `${description}${more}`];
  return [own, ...Object.entries(below).flatMap(([name, member]) => rowsOf(`${prefix}.${name}`, member))];
};

/** What a value may be besides null. */
const innerOf = (schema: Schema): Schema => schema.anyOf?.find(({ type }) => type !== "null") ?? schema;

const typeOf = (schema: Schema): string => {
  const inner = innerOf(schema);
  const word = inner.enum === undefined ? wordOf(inner) : "one of the words";
  return inner === schema ? word : `${word}, or null`;
};

const wordOf = ({ type = "any", items }: Schema): string =>
  type === "array" ? `list of ${items === undefined ? "any" : typeOf(items)}` : type;

const defaultOf = (schema: Schema): string => {
  const { default: value, properties } = { ...innerOf(schema), ...schema };
  if (value !== undefined) return code(JSON.stringify(value));
  return properties === undefined ? "" : "its members'";
};

const boundsOf = (schema: Schema): string => {
  const values = schema.enum ?? (schema.items && innerOf(schema.items).enum);
  const parts = [
    values === undefined ? "" : codes(values.map(String)),
    span(schema.minLength, schema.maxLength, "characters"),
    span(schema.minimum, schema.maximum, ""),
    span(schema.minItems, schema.maxItems, "items"),
  ];
  return parts.filter((part) => part !== "").join("; ");
};

const span = (least: number | undefined, most: number | undefined, noun: string): string => {
  if (most === undefined) return "";
  return `${least === undefined ? "at most " : `${figure(least)}–`}${figure(most)} ${noun}`.trim();
};
