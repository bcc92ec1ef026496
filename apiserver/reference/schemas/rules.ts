import { block, code, folded, list, value } from "../html.ts";
import type { Schema, SchemaObject } from "./schema.ts";
import { anything, boundsOf, kindOf } from "./words.ts";

/**
 * What members of an object have to do with one another, each a sentence of HTML. What no words are known for is shown as
 * JSON Schema.
 */
export const rulesOf = (schema: SchemaObject, root: string): string[] => [
  ...needs(schema.dependentRequired ?? {}),
  ...(schema.if === undefined ? [] : [condition(schema, root)]),
  ...(schema.properties === undefined ? [] : choices(schema, root)),
  ...(schema.allOf ?? []).flatMap((rule) => unless(rule, root) ?? ruleOf(rule, root)),
];

/** Rules that hold unless some members are given: a choice between these members and the rules. Null for another one. */
const unless = (rule: Schema, root: string): string | null => {
  const [given, rules, ...others] = (typeof rule === "object" && rule.anyOf) || [];
  if (given === undefined || typeof rules !== "object" || rules.allOf === undefined || others.length > 0) return null;
  const phrases = phrasesOf(given, root);
  return phrases && `Unless ${phrases.join(" and ")}:${list("choices", rulesOf(rules, root))}`;
};

const needs = (dependent: Record<string, string[]>): string[] => {
  const byNeed = Map.groupBy(Object.entries(dependent), ([, needed]) => needed.map(code).join(" and "));
  return [...byNeed].map(([needed, of]) => `Only with ${needed}: ${of.map(([name]) => code(name)).join(", ")}.`);
};

const ruleOf = (rule: Schema, root: string): string => {
  if (typeof rule === "object" && rule.if !== undefined) return condition(rule, root);
  const phrases = phrasesOf(rule, root);
  return phrases === null ? asJson(rule) : `${phrases.join(" and ")}.`;
};

const condition = (rule: SchemaObject, root: string): string => {
  const { if: given, then = true, else: otherwise } = rule;
  const [when, wanted, other] = [given, then, otherwise].map((part) => phrasesOf(part ?? true, root));
  if (!when || !wanted || !other)
    return asJson(Object.fromEntries(Object.entries(rule).filter(([keyword]) => branching.has(keyword))));
  const rest = otherwise === undefined ? "" : `; else ${other.join(" and ")}`;
  return `When ${when.join(" and ")}: ${wanted.join(" and ")}${rest}.`;
};

const branching: ReadonlySet<string> = new Set(["if", "then", "else"]);

const choices = ({ anyOf, oneOf }: SchemaObject, root: string): string[] => [
  ...choice("At least one of these:", anyOf, root),
  ...choice("One of these:", oneOf, root),
];

const choice = (label: string, forms: readonly Schema[] = [], root = ""): string[] => {
  if (forms.length === 0) return [];
  return [
    `${label}${list(
      "choices",
      forms.map((form) => phrasesOf(form, root)?.join(" and ") ?? asJson(form)),
    )}`,
  ];
};

const asJson = (rule: unknown): string => folded("A rule, as JSON Schema", block(JSON.stringify(rule, null, 2)));

/** What a schema says about members, `name is …`; null when it says something else, too. */
const phrasesOf = (schema: Schema, root: string, inside = ""): string[] | null => {
  if (typeof schema === "boolean") return schema ? [] : null;
  if (Object.keys(schema).some((keyword) => !said.has(keyword))) return null;
  const { properties = {}, required = [], type: _, ...bounds } = schema;
  const about = Object.entries(properties).filter(([, member]) => member !== true);
  const given = required.filter((name) => !about.some(([other]) => other === name));
  const phrases = about.map(([name, member]) => phraseOf(`${inside}${name}`, member, root));
  return [...given.map((name) => `${code(inside + name)} is given`), ...phrases, ...boundsOf(bounds)];
};

const said: ReadonlySet<string> = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "minProperties",
  "maxProperties",
  "propertyNames",
]);

const phraseOf = (name: string, member: Schema, root: string): string => {
  if (member === false) return `${code(name)} is left out`;
  if (typeof member === "object" && member.required !== undefined) {
    const inner = phrasesOf(member, root, `${name}.`);
    if (inner !== null) return inner.join(" and ");
  }
  const values = typeof member === "object" ? member.enum : undefined;
  if (values !== undefined) return `${code(name)} is ${values.map((one) => value(one)).join(" or ")}`;
  const kind = kindOf(member, root);
  const bounds = boundsOf(member);
  return `${code(name)} is ${[...(kind === anything && bounds.length > 0 ? [] : [kind]), ...bounds].join(", ")}`;
};
