import { type TSchema, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { type SettingValues, settingSchemas } from "./settings.ts";

type Said = Record<string, unknown>;

/** `spec.settings` of the App resource: every setting in camel case, and none that it has to name. */
export const ResourceSettings = Type.Unsafe<Said>(
  Closed(inCamelCase(settingSchemas), {
    description: "settings that the resource keeps; those that it does not name are the REST interface's",
  }),
);

/** What a resource says of settings, as they are stored: only those that it names. */
export const settingsOfResource = (said: Said): SettingValues => inSnakeCase(settingSchemas, said);

/** How a resource calls a setting. */
export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function inCamelCase(schemas: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [camelCase(name), Type.Optional(Type.Unsafe(inResource(schema)))]),
  );
}

/** Without its default, which would count as named, and without null, which is what is not named. */
function inResource(schema: TSchema): Record<string, unknown> {
  const { inner, description } = unwrapped(schema);
  const { default: _, ...rest } = inner as Record<string, unknown>; // a schema is plain JSON
  if (Type.IsObject(inner)) return { ...Closed(inCamelCase(inner.properties)), description };
  if (Type.IsArray(inner))
    return { ...rest, items: inResource(inner.items), "x-kubernetes-list-type": "atomic", description };
  return { ...rest, description };
}

function unwrapped(schema: TSchema): { inner: TSchema; description: unknown } {
  const [first] = Type.IsUnion(schema) ? schema.anyOf : [];
  const inner = first ?? schema;
  return { inner, description: wordsOf(schema) ?? wordsOf(inner) };
}

function wordsOf(schema: TSchema): unknown {
  return Reflect.get(schema, "description");
}

const inSnakeCase = (schemas: Readonly<Record<string, TSchema>>, said: Said): Said =>
  Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => {
      const value = said[camelCase(name)];
      return value === undefined ? [] : [[name, valueOf(schema, value)]];
    }),
  );

const valueOf = (schema: TSchema, value: unknown): unknown => {
  const { inner } = unwrapped(schema);
  if (Type.IsArray(inner) && Array.isArray(value)) return value.map((item) => valueOf(inner.items, item));
  return Type.IsObject(inner) && isObject(value) ? inSnakeCase(inner.properties, value) : value;
};

const isObject = (value: unknown): value is Said => typeof value === "object" && value !== null;
