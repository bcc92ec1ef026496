import type { FieldError } from "../../errors.ts";
import type { ActivitySchema, LiveActivityProperty } from "../../schema/live-activities/type.ts";

/** What of a schema could never be met, or says nothing of its members' types; fields lie below `at`. */
export const contradictions = ({ properties }: ActivitySchema, at: string): FieldError[] =>
  Object.entries(properties).flatMap(([name, property]) =>
    problemsOf(property).map(({ field, message }) => ({ field: `${at}.properties.${name}.${field}`, message })),
  );

const problemsOf = (property: LiveActivityProperty): FieldError[] => [
  ...strangeKeywords(property),
  ...crossed("minLength", property.minLength, property.maxLength),
  ...crossed("minimum", property.minimum, property.maximum),
  ...strangeValues(property),
];

const ofNumber: readonly LiveActivityProperty["type"][] = ["number", "integer"];

/** The types that a keyword says something of. */
const typesOf = {
  minLength: ["string"],
  maxLength: ["string"],
  format: ["string"],
  minimum: ofNumber,
  maximum: ofNumber,
} as const satisfies Partial<Record<keyof LiveActivityProperty, readonly LiveActivityProperty["type"][]>>;

const keywords = ["minLength", "maxLength", "format", "minimum", "maximum"] as const;

const strangeKeywords = (property: LiveActivityProperty): FieldError[] =>
  keywords
    .filter((keyword) => property[keyword] !== undefined)
    .filter((keyword) => !typesOf[keyword].some((type) => type === property.type))
    .map((keyword) => ({ field: keyword, message: `is only for the type ${typesOf[keyword].join(" or ")}` }));

const crossed = (field: string, least: number | undefined, most: number | undefined): FieldError[] =>
  least !== undefined && most !== undefined && least > most ? [{ field, message: `must be at most ${most}` }] : [];

const strangeValues = ({ type, enum: values = [] }: LiveActivityProperty): FieldError[] =>
  values.flatMap((value, i) => (isOf[type](value) ? [] : [{ field: `enum[${i}]`, message: `is not of type ${type}` }]));

const isOf: Record<LiveActivityProperty["type"], (value: unknown) => boolean> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
};
