import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import type { Evidence } from "../../../../dev/demo/send.ts";
import { missing, table } from "../../../../dev/demo/table.ts";

const anEvidence = (over: Partial<Evidence> = {}): Evidence => ({
  channel: "ios_push",
  recipient: "•••12345678",
  received: "Hello",
  delivery: "sent",
  event: "delivery.sent",
  isVerified: true,
  ...over,
});

describe("the demo's table", () => {
  it("shows a mark in every cell and aligns the columns", () => {
    const rows = [anEvidence(), anEvidence({ channel: "email", recipient: "d•••@example.com" })];
    const lines = stripVTControlCharacters(table(rows)).split("\n");
    expect(lines[2]).to.match(/^ios_push {2}•+12345678 +✓ “Hello” +✓ sent +✓ delivery\.sent +✓ verified$/);
    expect(new Set(lines.map(({ length }) => length)).size).to.equal(1);
  });

  it("misses nothing when all was seen", () => {
    expect(missing([anEvidence(), anEvidence({ delivery: "delivered" })])).to.deep.equal([]);
  });

  const lacking: { it: string; over: Partial<Evidence>; says: string }[] = [
    { it: "a push that did not arrive", over: { received: null }, says: "the provider received nothing" },
    { it: "a delivery that failed", over: { delivery: "errored (PROVIDER_AUTH)" }, says: "the delivery is errored" },
    { it: "no delivery", over: { delivery: null }, says: "the delivery is missing" },
    { it: "no webhook event", over: { event: null }, says: "the webhook event is missing" },
    { it: "another event", over: { event: "delivery.failed" }, says: "the webhook event is delivery.failed" },
    { it: "a signature that does not hold", over: { isVerified: false }, says: "no verified signature" },
  ];
  for (const { it: what, over, says } of lacking) {
    it(`names ${what} and marks its cell`, () => {
      const [line = "", ...others] = missing([anEvidence(over)]);
      expect(line).to.include(`ios_push: ${says}`);
      expect(others).to.deep.equal([]);
      expect(stripVTControlCharacters(table([anEvidence(over)]))).to.include("✗");
    });
  }
});
