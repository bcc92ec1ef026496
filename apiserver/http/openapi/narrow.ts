import type { Json } from "../feature.ts";

type Change = (member: Json) => Json;

/** The schema of an object some of whose members are changed. */
export const changed = (schema: Json, changes: Readonly<Record<string, Change>>): Json => {
  const { properties, ...rest } = schema as { properties: Record<string, Json> }; // sound: the schema of an object
  const members = Object.entries(properties).map(([name, member]) => [name, changes[name]?.(member) ?? member]);
  return { ...rest, properties: Object.fromEntries(members) as Json };
};

/** Admits for members that have no effect only what asks for none. */
export const refused = (names: readonly string[]): Record<string, Change> =>
  Object.fromEntries(
    names.map((name) => [name, (member) => ({ ...neutralOf(member), description: "has no effect here" })]),
  );

/** Source: docs/reference/messages.md#neutral-values. */
const neutralOf = ({ type, items, minimum, ...others }: Json): Json => {
  if (type === "boolean") return { const: false };
  if (type === "array") return { type, items, maxItems: 0 };
  const isAnything = type === undefined && others["enum"] === undefined;
  if (type === "object" || isAnything) return { type: "object", maxProperties: 0 };
  return minimum === 0 ? { const: 0 } : { not: {} };
};

/** An object with these members. */
export const having = (...required: string[]): Json => ({ type: "object", required });
