import { Type } from "typebox";
import { worded } from "../json/patterns.ts";

/** A text with an output or a tag of Liquid: what it says is known once it is rendered. */
const Liquid = Type.String({
  pattern: worded("\\{[{%]", "must have an output or a tag of Liquid, or the form of the member"),
  maxLength: 4_000,
  description: "Liquid, which gives the member's form once it is rendered",
});

/** A schema in which texts that have to have a form may have Liquid instead. */
export const withLiquid = <T extends object>(schema: T): T => loosened(schema) as T; // sound: texts stay texts

const loosened = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(loosened);
  if (typeof schema !== "object" || schema === null) return schema;
  if (Reflect.get(schema, "type") === "string") return hasForm(schema) ? orLiquid(schema as Type.TString) : schema; // sound: by its type
  const entries = Object.entries(schema).map(
    ([name, value]) => [name, kept.has(name) ? value : loosened(value)] as const,
  );
  return Object.defineProperties(Object.fromEntries(entries), hiddenOf(schema));
};

const orLiquid = (text: Type.TString): Type.TSchema =>
  Type.IsOptional(text) ? Type.Optional(Type.Union([text, Liquid])) : Type.Union([text, Liquid]);

const hasForm = (schema: object): boolean => "format" in schema || "pattern" in schema;

/** Of these no value is a text of a message. */
const kept = new Set(["propertyNames", "description", "required", "enum"]);

/** TypeBox keeps what a member is (optional) where JSON does not show it. */
const hiddenOf = (schema: object): PropertyDescriptorMap => {
  const all = Object.getOwnPropertyDescriptors(schema);
  return Object.fromEntries(Object.entries(all).filter(([, { enumerable }]) => enumerable !== true));
};
