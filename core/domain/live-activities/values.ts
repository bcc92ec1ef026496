import type { FieldError } from "../../errors.ts";
import type { ActivityValues } from "../../schema/live-activities/requests.ts";
import type { ActivitySchema, LiveActivityProperty } from "../../schema/live-activities/type.ts";

type Value = ActivityValues[string];

/**
 * What of some values a type's schema refuses; fields lie below `at`. A schema without properties checks nothing. Names
 * that it does not know are refused: Apple's device drops what it cannot decode, without a word.
 * Source: docs/reference/live-activities.md#schemas.
 */
export const nonconforming = (schema: ActivitySchema, values: ActivityValues, at: string): FieldError[] => {
  const { properties, required = [] } = schema;
  if (Object.keys(properties).length === 0) return [];
  return [
    ...required
      .filter((name) => !Object.hasOwn(values, name))
      .map((name) => ({ field: `${at}.${name}`, message: "is required" })),
    ...Object.entries(values).flatMap(([name, value]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const message = property === undefined ? "is not in the type's schema" : problemOf(property, value);
      return message === null ? [] : [{ field: `${at}.${name}`, message }];
    }),
  ];
};

const problemOf = (property: LiveActivityProperty, value: Value): string | null => {
  if (!isOf[property.type](value)) return `must be of type ${property.type}`;
  if (property.enum?.includes(value) === false) return `must be one of ${property.enum.join(", ")}`;
  if (typeof value === "string") return problemOfText(property, value);
  return typeof value === "number" ? problemOfNumber(property, value) : null;
};

const problemOfText = ({ minLength, maxLength, format }: LiveActivityProperty, value: string): string | null => {
  const characters = Array.from(value).length; // JSON Schema counts code points
  if (minLength !== undefined && characters < minLength) return `must have at least ${minLength} characters`;
  if (maxLength !== undefined && characters > maxLength) return `must have at most ${maxLength} characters`;
  return format === "date-time" && !isDateTime(value) ? "must be a date and time of RFC 3339" : null;
};

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const isDateTime = (text: string): boolean => dateTime.test(text) && !Number.isNaN(Date.parse(text));

const problemOfNumber = ({ minimum, maximum }: LiveActivityProperty, value: number): string | null => {
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  return maximum !== undefined && value > maximum ? `must be at most ${maximum}` : null;
};

const isOf: Record<LiveActivityProperty["type"], (value: Value) => boolean> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
};
