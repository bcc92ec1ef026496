import { expect } from "chai";
import { ValidationError } from "#core/errors.ts";
import { parser } from "#core/schema/json/parser.ts";
import { CreateSubscription } from "#core/schema/people/subscription.ts";

const point = (first: number, length = 65) => Buffer.alloc(length, first).toString("base64url");

describe("the schema of a subscription", () => {
  const parse = parser(CreateSubscription);
  const fieldOf = (body: object): unknown => {
    try {
      parse(body);
      return null;
    } catch (error) {
      return error instanceof ValidationError ? error.details["field"] : error;
    }
  };

  const auth = Buffer.alloc(16).toString("base64url");
  for (const { it: name, keys, member } of [
    { it: "an uncompressed point and 16 bytes", keys: { p256dh: point(4), auth }, member: null },
    { it: "padding", keys: { p256dh: `${point(4)}=`, auth: `${auth}==` }, member: null },
    { it: "a compressed point", keys: { p256dh: point(2, 33), auth }, member: "p256dh" },
    { it: "another first byte", keys: { p256dh: point(5), auth }, member: "p256dh" },
    { it: "a short secret", keys: { p256dh: point(4), auth: "AAAA" }, member: "auth" },
    { it: "what is not base64", keys: { p256dh: "!".repeat(88), auth }, member: "p256dh" },
  ]) {
    it(`${member === null ? "takes" : "refuses"} ${name}`, () => {
      const body = { channel: "web_push", token: "https://push.example.com/1", web: keys };
      expect(fieldOf(body)).to.equal(member === null ? null : `web.${member}`);
    });
  }

  it("refuses a browser without keys, and keys without a browser", () => {
    const web = { p256dh: point(4), auth };
    expect(fieldOf({ channel: "web_push", token: "https://push.example.com/1" })).to.equal("web");
    expect(fieldOf({ channel: "email", token: "a@example.com", web })).to.equal("web");
    expect(fieldOf({ channel: "email", token: "a@example.com" })).to.equal(null);
  });
});
