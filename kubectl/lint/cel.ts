import { Environment } from "@marcbachmann/cel-js";
import type { Rule } from "#core/schema/kubernetes/definition.ts";

type Schema = Record<string, unknown>;

/** A rule that does not hold, below which value, and at which member of it. */
export type Broken = { path: readonly (string | number)[]; fieldPath: string; message: string };

/**
 * The rules of a schema that a value breaks, those of its members included. Rules about a change are left out: there is
 * no former object. Source: kubernetes.io, "Validation rules" of CustomResourceDefinitions.
 */
export const brokenRules = (schema: Schema, value: unknown, path: readonly (string | number)[] = []): Broken[] => [
  ...rulesOf(schema)
    .filter(({ rule }) => !rule.includes("oldSelf") && !holds(rule, toCel(schema, value)))
    .map(({ message, fieldPath = "" }) => ({ path, fieldPath, message })),
  ...membersOf(schema, value).flatMap(([step, member, below]) => brokenRules(below, member, [...path, step])),
];

const rulesOf = (schema: Schema): Rule[] => (schema["x-kubernetes-validations"] ?? []) as Rule[]; // sound: ours

type Member = [step: string | number, value: unknown, schema: Schema];

/** The members of a value, each with its schema. */
const membersOf = (schema: Schema, value: unknown): Member[] => {
  if (Array.isArray(value)) return value.map((item: unknown, n) => [n, item, schemaAt(schema["items"])]);
  if (typeof value !== "object" || value === null) return [];
  const properties = schemaAt(schema["properties"]);
  return Object.entries(value).map(([name, member]) => [
    name,
    member,
    schemaAt(Object.hasOwn(properties, name) ? properties[name] : schema["additionalProperties"]),
  ]);
};

const schemaAt = (schema: unknown): Schema => (typeof schema === "object" && schema !== null ? { ...schema } : {});

/** Integers of the schema are CEL's int, which is a bigint here. */
const toCel = (schema: Schema, value: unknown): unknown => {
  if (typeof value === "number") return schema["type"] === "integer" && Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value !== "object" || value === null) return value;
  const members = membersOf(schema, value).map(([step, member, below]) => [step, toCel(below, member)] as const);
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
};

/** Functions that Kubernetes adds to CEL, those that our rules use. Source: kubernetes.io, "Common Expression Language". */
const environment = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false })
  .registerType("URL", URL)
  .registerFunction("isURL(string): bool", (text: string) => isAbsolute(text))
  .registerFunction("url(string): URL", (text: string) => new URL(text))
  .registerFunction("URL.getHostname(): string", (url: URL) => url.hostname);

/** As Kubernetes has it: with a scheme, or a path from the root. */
const isAbsolute = (text: string): boolean => URL.canParse(text);

const parsedRules = new Map<string, ReturnType<typeof environment.parse>>();

/** False also when the rule cannot be evaluated: the API server refuses then, too. */
const holds = (rule: string, self: unknown): boolean => {
  let parsed = parsedRules.get(rule);
  if (parsed === undefined) parsedRules.set(rule, (parsed = environment.parse(rule)));
  try {
    return parsed({ self }) === true;
  } catch {
    return false;
  }
};
