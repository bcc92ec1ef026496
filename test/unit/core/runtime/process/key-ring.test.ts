import { randomBytes } from "node:crypto";
import { expect } from "chai";
import * as fc from "fast-check";
import { KeyRingError, keyRing } from "#core/runtime/process/key-ring.ts";

const key = (kid: string): string => `${kid}:${randomBytes(32).toString("base64")}`;
const place = "apps/app_1/ios_push.private_key";

describe("keyRing", () => {
  const [older, newer] = [key("2025"), key("2026")];

  it("opens what it sealed, whatever the text", () => {
    const ring = keyRing(newer);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (plain) => {
        expect(ring.open(ring.seal(plain, place), place)).to.equal(plain);
      }),
    );
  });

  it("writes with the first key and reads with all", () => {
    const old = keyRing(older).seal("secret", place);
    const both = keyRing(`${newer}\n${older}\n`);
    expect(both.open(old, place)).to.equal("secret");
    expect(both.isStale(old)).to.equal(true);
    expect(both.seal("secret", place).kid).to.equal("2026");
    expect(keyRing(`${newer}, ${older}`).open(old, place)).to.equal("secret");
  });

  it("never seals the same text the same way twice", () => {
    const ring = keyRing(newer);
    expect(ring.seal("a", place).data).not.to.equal(ring.seal("a", place).data);
  });

  it("refuses another place, an unknown key, and any altered byte, and tells no secret", () => {
    const ring = keyRing(newer);
    const sealed = ring.seal("hush", place);
    expect(() => ring.open(sealed, "apps/app_2/ios_push.private_key")).to.throw(KeyRingError, "cannot be opened");
    expect(() => keyRing(older).open(sealed, place)).to.throw(KeyRingError, "no key 2026");
    const bytes = Buffer.from(sealed.data, "base64");
    for (let i = 0; i < bytes.length; i++) {
      const altered = Buffer.from(bytes);
      altered[i] = (altered[i] ?? 0) ^ 1;
      expect(() => ring.open({ ...sealed, data: altered.toString("base64") }, place)).to.throw(KeyRingError);
    }
    expect(() => ring.open({ ...sealed, data: "" }, place)).to.throw(KeyRingError);
  });

  const broken = [
    { it: "an empty ring", text: " \n", says: "holds no key" },
    { it: "a short key", text: `a:${Buffer.alloc(16).toString("base64")}`, says: "entry 1" },
    { it: "an entry without a name", text: `${key("a")}\n${Buffer.alloc(32).toString("base64")}`, says: "entry 2" },
    { it: "one name for two keys", text: `${key("a")},${key("a")}`, says: "names a twice" },
  ];
  for (const { it: name, text, says } of broken) {
    it(`refuses ${name}`, () => {
      expect(() => keyRing(text)).to.throw(KeyRingError, says);
    });
  }

  it("derives one key a purpose, the same in every replica", () => {
    expect(keyRing(newer).derive("cursors")).to.deep.equal(keyRing(`${newer},${older}`).derive("cursors"));
    expect(keyRing(newer).derive("cursors")).not.to.deep.equal(keyRing(newer).derive("other"));
  });

  it("signs with its first key for one purpose, and knows what any of its keys has signed", () => {
    const signature = keyRing(older).signer("links").sign("text");
    const both = keyRing(`${newer},${older}`);
    expect(both.signer("links").isSigned("text", signature)).to.equal(true);
    expect(both.signer("links").sign("text")).to.equal(keyRing(newer).signer("links").sign("text"));
    expect(both.signer("links").isSigned("other", signature)).to.equal(false);
    expect(both.signer("other").isSigned("text", signature)).to.equal(false);
    expect(keyRing(newer).signer("links").isSigned("text", signature)).to.equal(false);
  });
});
