import type { Json } from "../feature.ts";

type Change = (member: Json) => Json;

/** The schema of an object some of whose members are changed. */
export const changed = (schema: Json, changes: Readonly<Record<string, Change>>): Json => {
  const { properties, ...rest } = schema as { properties: Record<string, Json> }; // sound: the schema of an object
  const members = Object.entries(properties).map(([name, member]) => [name, changes[name]?.(member) ?? member]);
  return { ...rest, properties: Object.fromEntries(members) as Json };
};

/** Admits nothing for members that this release gives no effect. */
export const refused = (names: readonly string[]): Record<string, Change> =>
  Object.fromEntries(names.map((name) => [name, () => ({ not: {}, description: "not supported by this release" })]));

/** An object with these members. */
export const having = (...required: string[]): Json => ({ type: "object", required });
