import { generateKeyPairSync } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import fc from "fast-check";
import DKIM from "nodemailer/lib/dkim";
import { checkDkim } from "../../../../../dev/simulators/kit/dkim-check.ts";
import { dkimSignature } from "../../../../../dispatcher/channels/email/dkim.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const key = { domain: "shop.test", selector: "s1", privateKey };
const known = { "s1._domainkey.shop.test": publicKey.export({ type: "spki", format: "pem" }).toString() };

const head = ["From: news@shop.test", "Subject: one\r\n two", "X-Other: 1", "List-Unsubscribe: <https://x.test/>"].join(
  "\r\n",
);
const signed = (body: string): string => `${dkimSignature(key, head, body)}\r\n${head}\r\n\r\n${body}`;
const tagOf = (mail: string, tag: string): string =>
  new RegExp(`[;\\s]${tag}=([^;]*)`).exec(mail)?.[1]?.replace(/\s/g, "") ?? "";

describe("a DKIM signature", () => {
  it("verifies, and no longer when a signed header or the body was changed", () => {
    const mail = signed("Hello you\r\n");
    expect(checkDkim(mail, known)).to.equal("valid");
    expect(checkDkim(mail.replace("Hello", "Hallo"), known)).to.equal("invalid");
    expect(checkDkim(mail.replace("Subject: one", "Subject: two"), known)).to.equal("invalid");
    expect(checkDkim(mail.replace("x.test", "y.test"), known)).to.equal("invalid");
    expect(checkDkim(mail.replace("X-Other: 1", "X-Other: 2"), known)).to.equal("valid");
  });

  it("hashes every body as nodemailer does", async () => {
    const piece = fc.constantFrom(" ", "  ", "\t", "a", "=", "\r\n", "\r\n\r\n", ".", "é");
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const body = `${pieces.join("")}end\r\n`;
        const signer = new DKIM({ domainName: "shop.test", keySelector: "s1", privateKey });
        const theirs = (await buffer(signer.sign(`${head}\r\n\r\n${body}`))).toString();
        expect(tagOf(signed(body), "bh")).to.equal(tagOf(theirs, "bh"));
      }),
      { numRuns: 100 },
    );
  });
});
