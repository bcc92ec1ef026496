import { parse } from "node:querystring";
import { expect } from "chai";
import { Type } from "typebox";
import type { ValidationError } from "#core/errors.ts";
import { queryParser } from "../../../../apiserver/http/query.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text } = Type;

describe("the query of an operation", () => {
  const read = queryParser(
    Type.Object({
      limit: Optional(Integer({ minimum: 1, maximum: 200 })),
      uncertain: Optional(Flag()),
      label: Optional(Text({ minLength: 1 })),
      channel: Optional(List(Enum(["email", "sms"]), { maxItems: 3 })),
      code: Optional(List(Integer())),
    }),
  );
  const parsed = (query: string): unknown => read(parse(query));

  for (const { it: what, query, gives } of [
    { it: "reads numbers", query: "limit=50", gives: { limit: 50 } },
    { it: "reads true", query: "uncertain=true", gives: { uncertain: true } },
    { it: "reads false", query: "uncertain=false", gives: { uncertain: false } },
    { it: "leaves text as it is", query: "label=true", gives: { label: "true" } },
    { it: "leaves commas in text", query: "label=a,b", gives: { label: "a,b" } },
    { it: "reads one value as a list", query: "channel=email", gives: { channel: ["email"] } },
    { it: "reads a member that is repeated", query: "channel=email&channel=sms", gives: { channel: ["email", "sms"] } },
    { it: "reads values between commas", query: "channel=email,sms", gives: { channel: ["email", "sms"] } },
    { it: "reads both at once", query: "channel=email,sms&channel=sms", gives: { channel: ["email", "sms", "sms"] } },
    { it: "reads commas that are encoded", query: "channel=email%2Csms", gives: { channel: ["email", "sms"] } },
    { it: "reads the items of a list", query: "code=1,2", gives: { code: [1, 2] } },
    { it: "ignores what it does not know", query: "limit=1&colour=red", gives: { limit: 1 } },
  ] as const) {
    it(what, () => expect(parsed(query)).to.deep.equal(gives));
  }

  for (const { it: what, query, field, says } of [
    { it: "a flag that is neither", query: "uncertain=yes", field: "uncertain", says: "must be true or false" },
    { it: "a flag of a number", query: "uncertain=1", field: "uncertain", says: "must be true or false" },
    { it: "a flag that is empty", query: "uncertain=", field: "uncertain", says: "must be true or false" },
    { it: "a number that is none", query: "limit=ten", field: "limit", says: "must be an integer" },
    { it: "a number with a fraction", query: "limit=1.5", field: "limit", says: "must be an integer" },
    { it: "a number beyond its bound", query: "limit=201", field: "limit", says: "must be at most 200" },
    { it: "a number that is repeated", query: "limit=1&limit=2", field: "limit", says: "must be an integer" },
    { it: "text that is repeated", query: "label=a&label=b", field: "label", says: "must be a string" },
    { it: "an unknown value of a list", query: "channel=email,fax", field: "channel[1]", says: "must be one of" },
    { it: "a list with a gap", query: "channel=email,,sms", field: "channel[1]", says: "must be one of" },
    { it: "a list that is empty", query: "channel=", field: "channel[0]", says: "must be one of" },
    { it: "a list that is too long", query: "channel=sms,sms&channel=sms,sms", field: "channel", says: "at most 3" },
    { it: "a wrong item of a list", query: "code=1,x", field: "code[1]", says: "must be an integer" },
  ] as const) {
    it(`refuses ${what}`, () => {
      let thrown: unknown;
      try {
        parsed(query);
      } catch (error) {
        thrown = error;
      }
      const { code, details } = thrown as ValidationError; // or undefined, and the test fails
      expect([code, details["field"]]).to.deep.equal(["HS_VALIDATION_ERROR", field]);
      expect(details["message"]).to.include(says);
    });
  }
});
