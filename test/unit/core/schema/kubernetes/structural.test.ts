import { expect } from "chai";
import { type TSchema, Type } from "typebox";
import { allResources } from "#core/channels/all-resources.ts";
import { Closed, MapOf } from "#core/schema/json/common.ts";
import { customResourceDefinition } from "#core/schema/kubernetes/crd.ts";
import { structural } from "#core/schema/kubernetes/structural.ts";

describe("structural", () => {
  const rewritten: { it: string; schema: TSchema; expect: object }[] = [
    {
      it: "a constant as an enum of one",
      schema: Type.Literal("object"),
      expect: { type: "string", enum: ["object"] },
    },
    { it: "the type of an enum", schema: Type.Enum(["a", "b"]), expect: { type: "string", enum: ["a", "b"] } },
    {
      it: "a closed object without saying so, and a member with a default as not required",
      schema: Closed({ a: Type.String(), b: Type.Boolean({ default: false }) }),
      expect: {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "boolean", default: false } },
        required: ["a"],
      },
    },
    {
      it: "a character of a pattern by its number, as a server's patterns do",
      schema: Type.String({ pattern: "^[^\\u0000]*$" }),
      expect: { type: "string", pattern: "^[^\\x00]*$" },
    },
    {
      it: "a map with its keys' bounds as a rule",
      schema: MapOf({ minLength: 1, maxLength: 9 }, Type.Integer(), { maxProperties: 3 }),
      expect: {
        type: "object",
        maxProperties: 3,
        additionalProperties: { type: "integer" },
        "x-kubernetes-validations": [
          {
            rule: "self.all(key, size(key) >= 1 && size(key) <= 9)",
            message: "a key is too short, too long or has other characters",
          },
        ],
      },
    },
  ];
  for (const { it: name, schema, expect: wanted } of rewritten) {
    it(`writes ${name}`, () => {
      expect(structural(schema)).to.deep.equal(wanted);
    });
  }

  const refused: { it: string; schema: TSchema; says: string }[] = [
    { it: "a union", schema: Type.Union([Type.String(), Type.Null()]), says: "anyOf" },
    { it: "an exclusive bound", schema: Type.Integer({ exclusiveMinimum: 1 }), says: "exclusiveMinimum" },
    { it: "unique items", schema: Type.Array(Type.String(), { uniqueItems: true }), says: "list-type: set" },
    { it: "an enum of several types", schema: Type.Enum(["a", 1]), says: "one type" },
    { it: "a keyword it does not know", schema: Type.String({ contentEncoding: "base64" }), says: "contentEncoding" },
  ];
  for (const { it: name, schema, says } of refused) {
    it(`refuses ${name}, naming the member`, () => {
      expect(() => structural(Closed({ a: schema }), "spec"))
        .to.throw(says)
        .with.property("message")
        .that.contains("spec.a");
    });
  }
});

describe("custom resource definitions", () => {
  /** Every schema within a schema, by path. */
  const schemasIn = (schema: Record<string, unknown>, path: string): [string, Record<string, unknown>][] => {
    const inner: [string, unknown][] = [
      ...Object.entries(schema["properties"] ?? {}).map(([name, one]): [string, unknown] => [`${path}.${name}`, one]),
      [`${path}[]`, schema["items"]],
      [`${path}.*`, schema["additionalProperties"]],
    ];
    return [
      [path, schema],
      ...inner.flatMap(([name, one]) => (one === undefined ? [] : schemasIn(one as Record<string, unknown>, name))),
    ];
  };
  /** Items that are objects say what they are. */
  const isNamed = (path: string, schema: Record<string, unknown>): boolean =>
    !path.endsWith("[]") || schema["type"] === "object";
  for (const kind of allResources) {
    const all = [...schemasIn(structural(kind.spec), "spec"), ...schemasIn(structural(kind.status), "status")];
    it(`of ${kind.kind} describe every member`, () => {
      const silent = all.filter(
        ([path, schema]) => path.includes(".") && schema["description"] === undefined && isNamed(path, schema),
      );
      expect(silent.map(([path]) => path)).to.deep.equal([]);
    });

    it(`of ${kind.kind} bound every text, list and map`, () => {
      const isBound = ([, schema]: (typeof all)[number]): boolean => {
        if (schema["type"] === "string") return schema["enum"] !== undefined || schema["maxLength"] !== undefined;
        if (schema["type"] === "array") return schema["maxItems"] !== undefined;
        return schema["additionalProperties"] === undefined || schema["maxProperties"] !== undefined;
      };
      expect(all.filter((one) => !isBound(one)).map(([path]) => path)).to.deep.equal([]);
    });

    it(`of ${kind.kind} stay far below what a server takes, applied or in a release's Secret`, () => {
      expect(JSON.stringify(customResourceDefinition(kind)).length).to.be.below(200_000);
    });

    it(`of ${kind.kind} show Ready, its reason, the id and the age`, () => {
      const text = JSON.stringify(customResourceDefinition(kind));
      for (const name of ["Ready", "Reason", "ID", "Age"]) expect(text).to.contain(`"name":"${name}"`);
    });
  }
});
