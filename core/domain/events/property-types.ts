import { definitionLimits, type PropertyType } from "../../schema/events/definition.ts";

/** A property of an event's name, and what it has been so far. */
export type PropertySchema = { key: string; type: PropertyType };

/**
 * A schema after events with these properties: the same list when it says so already. New properties are left out once it
 * has 300. In whatever order events come, it says the same of each property.
 * Source: docs/reference/events.md#types-of-properties.
 */
export const schemaAfter = (
  schema: readonly PropertySchema[],
  events: readonly Readonly<Record<string, unknown>>[],
): readonly PropertySchema[] => {
  const types = new Map(schema.map(({ key, type }) => [key, type]));
  let isSame = true;
  for (const properties of events) {
    for (const [key, value] of Object.entries(properties)) {
      const before = types.get(key);
      if (before === undefined && types.size >= definitionLimits.keys) continue;
      const type = before === undefined ? typeOfProperty(value) : joined(before, typeOfProperty(value));
      if (type === before) continue;
      types.set(key, type);
      isSame = false;
    }
  }
  return isSame ? schema : [...types].map(([key, type]) => ({ key, type }));
};

/** What a value is: a text is a `datetime` when it is an ISO 8601 date, with or without a time. */
export const typeOfProperty = (value: unknown): Exclude<PropertyType, "mixed"> => {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "string") return isDateTime(value) ? "datetime" : "string";
  if (typeof value === "number") return "number";
  return typeof value === "boolean" ? "boolean" : "object";
};

/** What a property is that was the one and the other: any type but null stands above null, and `mixed` above all. */
export const joined = (a: PropertyType, b: PropertyType): PropertyType => {
  if (a === b || b === "null") return a;
  return a === "null" ? b : "mixed";
};

const isoDate = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Whether a text is an ISO 8601 date of the calendar. */
export const isDateTime = (text: string): boolean =>
  text.length <= 40 && isoDate.test(text) && !Number.isNaN(Date.parse(text));
