import type { Static, TObject } from "typebox";

/** What a document has for a member of a reply: an instant may stand for a text, and nothing for null. */
type Source<V> = V | (string extends V ? Date : never);
type Given<T> = { [K in keyof T as null extends T[K] ? never : K]: Source<T[K]> } & {
  [K in keyof T as null extends T[K] ? K : never]?: Source<T[K]> | undefined;
};

/**
 * What a reply shows of a document: the members that the schema names, in its order. Instants become ISO 8601; a required
 * member that the document does not have is null.
 */
export const showAs = <T extends TObject>(schema: T, document: Given<Static<T>>): Static<T> => {
  const required = new Set<string>(schema.required);
  const shown: Record<string, unknown> = {};
  for (const name of Object.keys(schema.properties)) {
    const value: unknown = Reflect.get(document, name);
    if (value instanceof Date) shown[name] = value.toISOString();
    else if (value !== undefined || required.has(name)) shown[name] = value ?? null;
  }
  return shown as Static<T>; // sound: by the types above
};
