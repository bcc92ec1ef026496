import type { TSchema } from "typebox";

const names = new WeakMap<object, string>();
const taken = new Set<string>();

/**
 * Gives schemas the names that the OpenAPI document refers to them by. The schemas themselves stay as they are.
 * @throws Error for a name that another schema has
 */
export const named = (schemas: Readonly<Record<string, TSchema>>): void => {
  for (const [name, schema] of Object.entries(schemas)) {
    if (taken.has(name)) throw new Error(`two schemas are called ${name}`);
    taken.add(name);
    names.set(schema, name);
  }
};

/** The name of a schema; undefined for one that is written out where it is used, and for anything else. */
export const nameOf = (schema: object): string | undefined => names.get(schema);
