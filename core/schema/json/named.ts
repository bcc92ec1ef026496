import type { TSchema } from "typebox";

const names = new WeakMap<object, string>();

/** Gives schemas the names that the OpenAPI document refers to them by. The schemas themselves stay as they are. */
export const named = (schemas: Readonly<Record<string, TSchema>>): void => {
  for (const [name, schema] of Object.entries(schemas)) names.set(schema, name);
};

/** The name of a schema; undefined for one that is written out where it is used, and for anything else. */
export const nameOf = (schema: object): string | undefined => names.get(schema);
