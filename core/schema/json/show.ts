import type { Static, TObject } from "typebox";
import { Check } from "typebox/value";

/** What a document has for a member of a reply: an instant may stand for a text, and nothing for null. */
type Source<V> = V | (string extends V ? Date : never);
type Document<T> = { [K in keyof T as null extends T[K] ? never : K]: Source<T[K]> } & {
  [K in keyof T as null extends T[K] ? K : never]?: Source<T[K]> | undefined;
};

/** A document that a schema can be shown of, and what it has besides. */
export type DocumentOf<T extends TObject> = Document<Static<T>>;

/**
 * What a reply shows of a document: the members that the schema names, in its order. Instants become ISO 8601; a required
 * member that the document does not have is null where the schema has it so.
 * @throws TypeError when a document that was damaged lacks another one
 */
export const showAs = <T extends TObject>(schema: T, document: DocumentOf<T>): Static<T> => {
  const shown: Record<string, unknown> = {};
  for (const { name, mayBeNull, isRequired } of membersOf(schema)) {
    const value: unknown = Reflect.get(document, name);
    if (value instanceof Date) shown[name] = value.toISOString();
    else if (value !== undefined && value !== null) shown[name] = value;
    else if (mayBeNull && (isRequired || value === null)) shown[name] = null;
    else if (isRequired) throw new TypeError(`${name} is missing`);
  }
  return shown as Static<T>; // sound: by the types above
};

type Member = { name: string; mayBeNull: boolean; isRequired: boolean };

const known = new WeakMap<TObject, Member[]>();

const membersOf = (schema: TObject): Member[] => {
  const required = new Set<string>(schema.required);
  const members =
    known.get(schema) ??
    Object.entries(schema.properties).map(([name, member]) => ({
      name,
      mayBeNull: Check(member, null),
      isRequired: required.has(name),
    }));
  known.set(schema, members);
  return members;
};
