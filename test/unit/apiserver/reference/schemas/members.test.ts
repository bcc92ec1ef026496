import { expect } from "chai";
import { membersOf } from "../../../../../apiserver/reference/schemas/members.ts";
import type { Schema, SchemaObject } from "../../../../../apiserver/reference/schemas/schema.ts";

const shown = (schema: Schema, schemas: Record<string, SchemaObject> = {}) =>
  membersOf(schema, { root: "../", schemas, at: "body" });
const idsOf = (html: string): string[] => Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id = ""]) => id);
const ref = (name: string): SchemaObject => ({ $ref: `#/components/schemas/${name}` });

describe("the members of a body", () => {
  it("are listed with an address each, those that are required first", () => {
    const html = shown({
      type: "object",
      required: ["b"],
      properties: { a: { type: "string" }, b: { type: "object", properties: { c: {} } } },
    });
    expect(idsOf(html)).to.deep.equal(["body.b", "body.b.c", "body.a"]);
    expect(html).to.contain("<details open><summary>Inside <code>b</code></summary>");
  });

  it("are those of a list's items, of a map's values, of each form and of what may be null", () => {
    const inner: SchemaObject = { type: "object", properties: { x: { type: "string" } } };
    const properties = {
      list: { type: "array", items: inner },
      map: { type: "object", patternProperties: { "^.*$": inner } },
      forms: { anyOf: [inner, { type: "object", properties: { y: {} } }] },
      maybe: { anyOf: [inner, { type: "null" }] },
    };
    const below = idsOf(shown({ type: "object", properties })).filter((id) => id.split(".").length > 2);
    expect(below).to.deep.equal([
      "body.list[].x",
      "body.map[].x",
      "body.forms(0).x",
      "body.forms(1).y",
      "body.maybe.x",
    ]);
  });

  it("end where a schema names itself, or is deeper than a reader goes", () => {
    const node: SchemaObject = { type: "object", properties: { next: ref("Node"), other: ref("Other") } };
    const other: SchemaObject = { type: "object", properties: { node: ref("Node"), leaf: {} } };
    const html = shown(ref("Node"), { Node: node, Other: other });
    expect(idsOf(html)).to.deep.equal(["body.next", "body.other", "body.other.node", "body.other.leaf"]);
    expect(html).to.contain('<a href="../schemas/Node">Node</a>');
    let deep: SchemaObject = { type: "object", properties: { end: {} } };
    for (let n = 0; n < 20; n++) deep = { type: "object", properties: { in: deep } };
    expect(shown(deep)).to.contain("What is deeper is in openapi.json.").and.not.contain("end");
  });

  it("say nothing that a page would take for its own", () => {
    const html = shown({
      type: "object",
      properties: { '<b>"': { type: "string", description: "<script>alert(1)</script> `<i>`" } },
    });
    expect(html).to.not.match(/<script|<b>|<i>/);
  });
});
