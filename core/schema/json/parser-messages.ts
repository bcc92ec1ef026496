import type { ErrorObject } from "ajv/dist/2020.js";
import { formatMessages } from "./formats.ts";
import { wordsOf } from "./patterns.ts";

/** What to tell a person about one broken rule: half a sentence that follows the member's name, without its value. */
export const messageOf = (error: ErrorObject): string =>
  messages[error.keyword]?.(error.params) ?? error.message ?? "is not valid";

type Params = Record<string, unknown>;

const messages: Record<string, (params: Params) => string> = {
  required: () => "is required",
  dependentRequired: ({ property }) => `is required with ${String(property)}`,
  additionalProperties: () => "is not known",
  "false schema": () => "has no effect with the other members",
  unevaluatedProperties: () => "is not known",
  type: ({ type }) => `must be ${String(type).split(",").map(typeName).join(" or ")}`,
  enum: ({ allowedValues }) => `must be one of ${Array.isArray(allowedValues) ? allowedValues.join(", ") : ""}`,
  const: ({ allowedValue }) => `must be ${String(allowedValue)}`,
  minLength: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${String(limit)} characters`),
  maxLength: ({ limit }) => `must have at most ${count(limit, "character")}`,
  minItems: ({ limit }) => `must have at least ${count(limit, "item")}`,
  maxItems: ({ limit }) => `must have at most ${count(limit, "item")}`,
  minProperties: ({ limit }) => `must have at least ${count(limit, "member")}`,
  maxProperties: ({ limit }) => `must have at most ${count(limit, "member")}`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${String(limit)}`,
  pattern: ({ pattern }) => wordsOf(String(pattern)) ?? `must match ${String(pattern)}`,
  uniqueItems: ({ i, j }) => `must not repeat an item (${String(j)} and ${String(i)} are equal)`,
  format: ({ format }) => formatMessages[String(format)] ?? `must have the format ${String(format)}`,
};

const typeNames: Record<string, string> = {
  string: "a string",
  integer: "an integer",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
};

const typeName = (type: string): string => typeNames[type] ?? type;

const count = (limit: unknown, noun: string): string => `${String(limit)} ${noun}${limit === 1 ? "" : "s"}`;
