import { expect } from "chai";
import { type Installation, installation } from "../../../support/api/api.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";

const schema = { type: "object", properties: { status: { type: "string" } }, required: ["status"] };

describe("a live activity type that is refused", () => {
  let site: Installation;
  let base: string;
  let token: string;

  before(async () => {
    site = await installation();
    const tenant = await seedTenant(site.db);
    token = tenant.token;
    base = `/v1/apps/${tenant.app._id}/live-activities/types`;
  });
  after(() => site.close());

  const call = (method: string, path: string, body: object) => site.api.call(method, base + path, { token, body });
  const count = (name: string) => site.db.collection("live_activity_types").countDocuments({ name });

  const property = (over: object) => ({ content_state_schema: { type: "object", properties: { x: over } } });
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, anyText]));
  const anyText = { type: "string" };
  const cases: { it: string; body: Record<string, unknown>; field: string }[] = [
    { it: "no name", body: { name: undefined }, field: "name" },
    { it: "an empty name", body: { name: "" }, field: "name" },
    { it: "a name of 101 characters", body: { name: "x".repeat(101) }, field: "name" },
    { it: "a name that is a word of the path", body: { name: "types" }, field: "name" },
    { it: "a name that a path leaves out", body: { name: ".." }, field: "name" },
    { it: "a description of 301 characters", body: { description: "x".repeat(301) }, field: "description" },
    { it: "no content state", body: { content_state_schema: undefined }, field: "content_state_schema" },
    {
      it: "a schema of another type",
      body: { content_state_schema: { ...schema, type: "array" } },
      field: "content_state_schema.type",
    },
    {
      it: "no properties",
      body: { content_state_schema: { type: "object" } },
      field: "content_state_schema.properties",
    },
    {
      it: "a keyword that is not known",
      body: property({ type: "string", pattern: "x" }),
      field: "content_state_schema.properties.x.pattern",
    },
    {
      it: "a property that is an object",
      body: property({ type: "object" }),
      field: "content_state_schema.properties.x.type",
    },
    {
      it: "another format",
      body: property({ type: "string", format: "email" }),
      field: "content_state_schema.properties.x.format",
    },
    {
      it: "an object among the values",
      body: property({ type: "string", enum: [{}] }),
      field: "content_state_schema.properties.x.enum[0]",
    },
    {
      it: "a bound of a string on a number",
      body: property({ type: "integer", minLength: 3 }),
      field: "content_state_schema.properties.x.minLength",
    },
    {
      it: "a format on a boolean",
      body: property({ type: "boolean", format: "date-time" }),
      field: "content_state_schema.properties.x.format",
    },
    {
      it: "a bound of a number on a string",
      body: property({ type: "string", maximum: 3 }),
      field: "content_state_schema.properties.x.maximum",
    },
    {
      it: "a least length above the largest",
      body: property({ type: "string", minLength: 9, maxLength: 1 }),
      field: "content_state_schema.properties.x.minLength",
    },
    {
      it: "a least number above the largest",
      body: { attributes_schema: { type: "object", properties: { x: { type: "number", minimum: 2, maximum: 1 } } } },
      field: "attributes_schema.properties.x.minimum",
    },
    {
      it: "a value of another type",
      body: property({ type: "string", enum: ["a", 1] }),
      field: "content_state_schema.properties.x.enum[1]",
    },
    {
      it: "a fraction among integers",
      body: property({ type: "integer", enum: [1, 1.5] }),
      field: "content_state_schema.properties.x.enum[1]",
    },
    {
      it: "51 properties",
      body: { content_state_schema: { type: "object", properties: many(51) } },
      field: "content_state_schema.properties",
    },
    {
      it: "51 required members",
      body: { attributes_schema: { type: "object", properties: {}, required: Object.keys(many(51)) } },
      field: "attributes_schema.required",
    },
    {
      it: "a required member without a property",
      body: { attributes_schema: { ...schema, required: ["status", "toString"] } },
      field: "attributes_schema.required[1]",
    },
    { it: "no platform", body: { platforms: [] }, field: "platforms" },
    { it: "a platform twice", body: { platforms: ["ios", "ios"] }, field: "platforms" },
    { it: "a platform that is not known", body: { platforms: ["tvos"] }, field: "platforms[0]" },
    { it: "a member that is not known", body: { push_to_start_tokens: 4 }, field: "push_to_start_tokens" },
  ];
  for (const { it: name, body, field } of cases) {
    it(name, async () => {
      const reply = await call("POST", "", { name: "Refused", content_state_schema: schema, ...body });
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, field]);
      expect(await count("Refused")).to.equal(0);
    });
  }

  it("a change of the name", async () => {
    const { id } = (await call("POST", "", { name: "Order", content_state_schema: schema })).body;
    const reply = await call("PATCH", `/${id}`, { name: "Other" });
    expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, "name"]);
  });
});
