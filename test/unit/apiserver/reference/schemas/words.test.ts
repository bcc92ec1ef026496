import { expect } from "chai";
import { conditional } from "#core/schema/json/common.ts";
import { rulesOf } from "../../../../../apiserver/reference/schemas/rules.ts";
import type { Schema, SchemaObject } from "../../../../../apiserver/reference/schemas/schema.ts";
import { boundsOf, kindOf } from "../../../../../apiserver/reference/schemas/words.ts";

const plain = (html: string): string =>
  html
    .replaceAll(/<[^>]+>/g, "")
    .replaceAll("&quot;", '"')
    .replaceAll(/\s+/g, " ")
    .trim();

describe("a schema in words", () => {
  const cases: { it: string; given: Schema; kind: string; bounds?: string[] }[] = [
    {
      it: "a text",
      given: { type: "string", minLength: 1, maxLength: 1 },
      kind: "string",
      bounds: ["exactly 1 character"],
    },
    {
      it: "a number",
      given: { type: "integer", minimum: 0, maximum: 99_999 },
      kind: "integer",
      bounds: ["0 to 99,999"],
    },
    {
      it: "what may be null",
      given: { anyOf: [{ type: "string", maxLength: 3 }, { type: "null" }] },
      kind: "string or null",
      bounds: ["at most 3 characters"],
    },
    {
      it: "a list",
      given: { type: "array", items: { type: "string", minLength: 1 }, uniqueItems: true },
      kind: "list of string",
      bounds: ["none twice", "each: at least 1 character"],
    },
    {
      it: "a map",
      given: {
        type: "object",
        patternProperties: { "^.*$": { type: "boolean" } },
        propertyNames: { type: "string", maxLength: 9 },
      },
      kind: "map of names to boolean",
      bounds: ["each name: at most 9 characters"],
    },
    { it: "a named schema", given: { $ref: "#/components/schemas/Error" }, kind: "Error" },
    { it: "names of values", given: { enum: ["a", 1] }, kind: "string or number", bounds: ['one of "a", 1'] },
    { it: "one value", given: { const: "x" }, kind: '"x"' },
    { it: "what is not taken", given: { not: {}, description: "not supported" }, kind: "refused" },
    { it: "a file", given: { type: "string", contentMediaType: "text/csv" }, kind: "file (text/csv)" },
    {
      it: "a wrapped schema",
      given: { allOf: [{ type: "object", maxProperties: 2 }, { propertyNames: { not: { pattern: "^x$" } } }] },
      kind: "object",
      bounds: ["at most 2 members"],
    },
    {
      it: "a pattern of ours",
      given: { type: "string", pattern: "^[A-Z]{2}$" },
      kind: "string",
      bounds: ["must be two capital letters, such as DE (^[A-Z]{2}$)"],
    },
    { it: "anything", given: {}, kind: "any JSON" },
  ];
  for (const { it: name, given, kind, bounds = [] } of cases) {
    it(`says of ${name} what it is and what bounds it has`, () => {
      expect(plain(kindOf(given, ""))).to.equal(kind);
      expect(boundsOf(given).map(plain)).to.deep.equal(bounds);
    });
  }

  const isA = (values: unknown[]): SchemaObject => ({
    type: "object",
    properties: { kind: { enum: values } },
    required: ["kind"],
  });
  const rules: { it: string; given: SchemaObject; says: string }[] = [
    {
      it: "a condition",
      given: conditional({ when: isA(["a", "b"]), require: { properties: { x: false }, required: ["y"] } }),
      says: 'When kind is "a" or "b": y is given and x is left out.',
    },
    {
      it: "what else holds",
      given: conditional({ when: isA(["a"]), require: { required: ["y"] }, otherwise: { properties: { y: false } } }),
      says: 'When kind is "a": y is given; else y is left out.',
    },
    { it: "what goes together", given: { dependentRequired: { a: ["s"], b: ["s"] } }, says: "Only with s: a, b." },
    {
      it: "a choice of members",
      given: { properties: {}, oneOf: [{ required: ["a"] }, { properties: { o: { required: ["b"] } } }] },
      says: "One of these: a is given o.b is given",
    },
    {
      it: "what no words are known for",
      given: { allOf: [conditional({ when: { minContains: 1 }, require: {} })] },
      says: 'A rule, as JSON Schema { "if": { "minContains": 1 }, "then": {} }',
    },
  ];
  for (const { it: name, given, says } of rules) {
    it(`says of ${name} which members have to do with which`, () => {
      expect(plain(rulesOf(given, "").join(" "))).to.equal(says);
    });
  }
});
