import { expect } from "chai";
import { nonconforming } from "#core/domain/live-activities/values.ts";
import type { ActivityValues } from "#core/schema/live-activities/requests.ts";
import type { ActivitySchema } from "#core/schema/live-activities/type.ts";

const schema: ActivitySchema = {
  type: "object",
  properties: {
    step: { type: "integer", minimum: 0, maximum: 9 },
    share: { type: "number" },
    note: { type: "string", minLength: 2, maxLength: 3 },
    gate: { type: "string", enum: ["A", "B"] },
    at: { type: "string", format: "date-time" },
    late: { type: "boolean" },
  },
  required: ["step"],
};

const anything: ActivitySchema = { type: "object", properties: {} };

describe("values of a live activity", () => {
  const good: ActivityValues = {
    step: 9,
    share: 0.5,
    note: "äö",
    gate: "A",
    at: "2026-11-23T12:00:00+01:00",
    late: true,
  };

  it("are what their schema says", () => {
    expect(nonconforming(schema, good, "content_state")).to.deep.equal([]);
  });

  it("are anything where the schema has no properties", () => {
    expect(nonconforming(anything, { x: 1, y: "z" }, "attributes")).to.deep.equal([]);
  });

  const cases: { it: string; values: Record<string, unknown>; field: string; message: string }[] = [
    { it: "that lack a required one", values: { step: undefined }, field: "step", message: "is required" },
    {
      it: "that the schema does not know",
      values: { other: 1 },
      field: "other",
      message: "is not in the type's schema",
    },
    { it: "called like a member of every object", values: { toString: "x" }, field: "toString", message: "is not in" },
    { it: "of another type", values: { step: "1" }, field: "step", message: "must be of type integer" },
    { it: "with a fraction for an integer", values: { step: 1.5 }, field: "step", message: "must be of type integer" },
    { it: "below the least", values: { step: -1 }, field: "step", message: "must be at least 0" },
    { it: "above the most", values: { step: 10 }, field: "step", message: "must be at most 9" },
    { it: "that are too short", values: { note: "😀" }, field: "note", message: "at least 2 characters" },
    { it: "that are too long", values: { note: "abcd" }, field: "note", message: "at most 3 characters" },
    { it: "that are none of those admitted", values: { gate: "C" }, field: "gate", message: "must be one of A, B" },
    { it: "that are no instant", values: { at: "2026-13-01T00:00:00Z" }, field: "at", message: "RFC 3339" },
    { it: "that are a day alone", values: { at: "2026-11-23" }, field: "at", message: "RFC 3339" },
  ];
  for (const { it: name, values, field, message } of cases) {
    it(`are refused ${name}`, () => {
      const given = Object.fromEntries(
        Object.entries({ ...good, ...values }).filter(([, value]) => value !== undefined),
      );
      const problems = nonconforming(schema, given as ActivityValues, "content_state"); // what a schema has passed, or not
      expect(problems.map((one) => one.field)).to.deep.equal([`content_state.${field}`]);
      expect(problems[0]?.message).to.include(message);
    });
  }
});
