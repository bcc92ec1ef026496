import { expect } from "chai";
import { addressIn, bounceAddress, bounceSigner, isOurs } from "#core/channels/email/bounce-address.ts";
import { derivedId } from "#core/domain/ids.ts";

const domain = "bounces.shop.test";
const ours = bounceSigner({ domain, password: "correct horse" });
const theirs = bounceSigner({ domain, password: "another" });
const deliveryId = derivedId("delivery", "1");
const address = (purpose: "bounce" | "unsubscribe", of = deliveryId, by = ours): string =>
  bounceAddress(purpose, { domain, sign: by.sign }, of);

/** What an address of ours in a mail says; null when the first one in it is none of ours. */
const read = (mail: string) => {
  const found = addressIn(mail);
  if (found === null || !isOurs(ours, found)) return null;
  return { purpose: found.purpose, deliveryId: found.deliveryId };
};

describe("the address that bounces come back to", () => {
  for (const purpose of ["bounce", "unsubscribe"] as const) {
    it(`tells its delivery and purpose: ${purpose}`, () => {
      expect(read(`To: <${address(purpose)}>`)).to.deep.equal({ purpose, deliveryId });
    });

    it(`has a local part that every server takes: ${purpose}`, () => {
      const [local = ""] = address(purpose).split("@");
      expect(local).to.match(/^[a-z0-9+]{1,64}$/); // RFC 5321 4.5.3.1.1
    });
  }

  it("is known in upper case too", () => {
    expect(read(address("bounce").toUpperCase())).to.deep.equal({ purpose: "bounce", deliveryId });
  });

  for (const { it: name, mail } of [
    { it: "signed for another account", mail: address("bounce", deliveryId, theirs) },
    { it: "signed for another delivery", mail: address("bounce").replace(/\+.{26}/, `+${"0".repeat(26)}`) },
    { it: "signed for bounces, where nobody wants to leave", mail: address("bounce").replace("bounce+", "unsub+") },
    { it: "another one", mail: "To: news@shop.test" },
    { it: "behind another of its form", mail: `${address("bounce", deliveryId, theirs)} ${address("bounce")}` },
  ])
    it(`is not seen in what is ${name}`, () => expect(read(mail)).to.equal(null));
});
