import { expect } from "chai";
import * as fc from "fast-check";
import { type TSchema, Type } from "typebox";
import { ValidationError } from "#core/errors.ts";
import { Closed, MapOf, Nullable } from "#core/schema/json/common.ts";
import { parser } from "#core/schema/json/parser.ts";
import { CreateNotification } from "#core/schema/messages/notification.ts";

const Target = Closed({
  channels: Type.Optional(Type.Array(Type.Enum(["email", "sms"]), { maxItems: 3, uniqueItems: true })),
  all: Type.Optional(Type.Boolean()),
});
const Header = Type.Union([
  Closed({ type: Type.Literal("text"), text: Type.String({ minLength: 1, maxLength: 5 }) }),
  Closed({ type: Type.Literal("image"), url: Type.String({ format: "uri" }) }),
  Closed({ type: Type.Literal("video"), url: Type.String({ format: "uri" }) }),
]);
const Draft = Closed({
  target: Target,
  name: Type.Optional(Nullable(Type.String({ minLength: 2 }))),
  ttl: Type.Optional(Type.Integer({ minimum: 60, maximum: 100 })),
  headers: Type.Optional(Type.Array(Header)),
  state: Type.Optional(Type.Union([Type.Literal("on"), Type.Literal("off"), Type.Literal("idle")])),
  texts: Type.Optional(MapOf({ pattern: "^[a-z]{2}$" }, Type.String())),
  either: Type.Optional(Type.Union([Type.String(), Type.Array(Type.Number())])),
});

describe("parser", () => {
  const cases: { it: string; given: unknown; expect: Record<string, string> }[] = [
    { it: "names a missing member", given: {}, expect: { target: "is required" } },
    { it: "names an unknown member itself", given: { target: { al: true } }, expect: { "target.al": "is not known" } },
    {
      it: "names an unknown member called __proto__",
      given: JSON.parse('{"target":{},"__proto__":{}}'),
      expect: { ["__proto__"]: "is not known" },
    },
    {
      it: "names the item of a list by index",
      given: { target: { channels: ["email", "fax"] } },
      expect: { "target.channels[1]": "must be one of email, sms" },
    },
    { it: "names types in words", given: { target: { all: 1 } }, expect: { "target.all": "must be true or false" } },
    { it: "says a bound with its figure", given: { target: {}, ttl: 59 }, expect: { ttl: "must be at least 60" } },
    {
      it: "gives the error of the branch that null leaves",
      given: { target: {}, name: "x" },
      expect: { name: "must have at least 2 characters" },
    },
    {
      it: "gives one message for a nullable member",
      given: { target: {}, name: 3 },
      expect: { name: "must be a string or null" },
    },
    {
      it: "gives the errors of the branch that a discriminator chose",
      given: {
        target: {},
        headers: [
          { type: "text", text: "too long" },
          { type: "image", link: "a" },
        ],
      },
      expect: {
        "headers[0].text": "must have at most 5 characters",
        "headers[1].url": "is required",
        "headers[1].link": "is not known",
      },
    },
    {
      it: "lists a discriminator's values when none fits",
      given: { target: {}, headers: [{ type: "fax" }] },
      expect: { "headers[0].type": "must be one of text, image, video" },
    },
    {
      it: "asks for a missing discriminator",
      given: { target: {}, headers: [{}] },
      expect: { "headers[0].type": "is required" },
    },
    {
      it: "lists a union of literals",
      given: { target: {}, state: "up" },
      expect: { state: "must be one of on, off, idle" },
    },
    {
      it: "joins the types of a union",
      given: { target: {}, either: true },
      expect: { either: "must be a string or an array" },
    },
    {
      it: "follows a union's list to its item",
      given: { target: {}, either: ["a"] },
      expect: { "either[0]": "must be a number" },
    },
    {
      it: "names a bad key of a map",
      given: { target: {}, texts: { english: "hi" } },
      expect: { "texts.english": "has a name that must match ^[a-z]{2}$" },
    },
    {
      it: "reports all failing members at once",
      given: { target: { all: 0 }, ttl: 1.5, x: 1 },
      expect: { "target.all": "must be true or false", ttl: "must be an integer", x: "is not known" },
    },
    { it: "calls the input itself body", given: [], expect: { body: "must be an object" } },
  ];
  for (const { it: name, given, expect: wanted } of cases) {
    it(name, () => {
      expect(failuresOf(Draft, given)).to.deep.equal(wanted);
    });
  }

  it("puts fields below the prefix", () => {
    expect(failuresOf(Draft, { target: [] }, "body")).to.deep.equal({ "body.target": "must be an object" });
  });

  it("gives valid input back, unchanged", () => {
    const draft = { target: { channels: ["sms"] }, name: null };
    expect(parser(Draft)(draft)).to.equal(draft);
    expect(draft).to.deep.equal({ target: { channels: ["sms"] }, name: null });
  });

  it("reports at most 20 members", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`m${i}`, 1]));
    expect(Object.keys(failuresOf(Draft, { target: {}, ...many }))).to.have.length(20);
  });

  it("tells a huge bad list its first error only", () => {
    const target = { channels: Array.from({ length: 200_000 }, () => 7) };
    expect(failuresOf(Draft, { target })).to.deep.equal({ "target.channels": "must have at most 3 items" });
  });

  it("compiles the notification's whole schema in strict mode and accepts a small one", () => {
    const body = { target: { all: true }, contents: { en: "hi" } };
    expect(parser(CreateNotification)(body)).to.equal(body);
  });

  it("either accepts any JSON value or names a field of it, and never throws anything else", () => {
    const parse = parser(CreateNotification);
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        try {
          parse(value);
        } catch (error) {
          expect(error).to.be.instanceOf(ValidationError);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("names exactly the members that were made unknown", () => {
    const parse = parser(Closed({ a: Type.Optional(Type.Number()) }), {});
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[b-z_]{1,12}$/), { minLength: 1, maxLength: 10 }), (names) => {
        const failures = failuresWhen(() => parse(Object.fromEntries(names.map((name) => [name, 1]))));
        expect(Object.keys(failures).sort()).to.deep.equal(names.toSorted());
      }),
      { numRuns: 200 },
    );
  });

  it("keeps integers within their bounds and no others", () => {
    const parse = parser(Closed({ n: Type.Integer({ minimum: -5, maximum: 5 }) }));
    fc.assert(
      fc.property(fc.double({ min: -10, max: 10, noNaN: true }), (n) => {
        const isFine = Number.isInteger(n) && n >= -5 && n <= 5;
        expect(Object.keys(failuresWhen(() => parse({ n })))).to.deep.equal(isFine ? [] : ["n"]);
      }),
      { numRuns: 200 },
    );
  });

  const formats = [
    {
      format: "https-url",
      good: ["https://api.push.apple.com", "http://127.0.0.1:27110", "http://localhost/a", "http://[::1]:1"],
      bad: ["http://example.com", "ftp://127.0.0.1", "https://u:p@example.com", "http://127.0.0.1.example.com", "x"],
    },
    {
      format: "cidr",
      good: ["10.0.0.0/8", "0.0.0.0/0", "fd00::/8", "::1/128"],
      bad: ["10.0.0.0", "10.0.0.0/33", "fd00::/129", "300.0.0.0/8", "/8"],
    },
  ];
  for (const { format, good, bad } of formats) {
    it(`knows the format ${format}`, () => {
      const parse = parser(Type.String({ format }));
      for (const text of good) expect(parse(text)).to.equal(text);
      for (const text of bad) expect(() => parse(text), text).to.throw(ValidationError);
    });
  }
});

const failuresOf = (schema: TSchema, input: unknown, prefix = ""): Record<string, string> =>
  failuresWhen(() => parser(schema, { prefix })(input));

const failuresWhen = (parse: () => unknown): Record<string, string> => {
  try {
    parse();
    return {};
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const errors = error.details["errors"] as { field: string; message: string }[];
    return Object.fromEntries(errors.map(({ field, message }) => [field, message]));
  }
};
