import { expect } from "chai";
import { maskLine, maskText, maskValue } from "../../../kubectl/report/mask.ts";

/** What must be found in no report, and where it may stand. */
const planted: [what: string, text: string, secret: string][] = [
  ["a password in an address", "mongodb://herald:hunter2@db:27017/?tls=true", "hunter2"],
  ["a token of the REST interface", "authorization: Bearer k3yAbCdEfGhIjKlMnOpQrStUvWxYz012345", "k3yAbCdEf"],
  ["a signing secret", "secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8GKY"],
  ["a JSON web token", "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJURUFNIn0.c2ln", "eyJpc3Mi"],
  ["a private key", "-----BEGIN PRIVATE KEY-----\nMIGTAgEA\n-----END PRIVATE KEY-----", "MIGTAgEA"],
  ["an e-mail address", "550 no mailbox ada.lovelace+news@example.co.uk here", "lovelace"],
  ["a phone number", "to +4915112345678: blocked", "15112345678"],
  ["a token of a device", `BadDeviceToken ${"0a1b2c3d".repeat(8)}`, "0a1b2c3d0a1b"],
  ["a signed address", "https://files.example/a?X-Amz-Signature=abc123&b=c", "abc123"],
  [
    "a key in base64",
    `key ring k1:${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`,
    "MDEyMzQ1Njc4OWFi",
  ],
];

describe("what kubectl herald report masks", () => {
  for (const [what, text, secret] of planted)
    it(`finds ${what} in a text, in a member and in a line of a log`, () => {
      expect(maskText(text)).to.not.contain(secret);
      expect(JSON.stringify(maskValue({ spec: { note: [text] } }))).to.not.contain(secret);
      expect(maskLine(JSON.stringify({ event: "x", err: { message: text } }))).to.not.contain(secret);
    });

  it("goes by the names of members, too", () => {
    const value = {
      password: "x",
      auth_token: "y",
      apiKey: "z",
      to: "w",
      external_id: 42,
      nested: { clientSecret: ["v"] },
    };
    expect(maskValue(value)).to.deep.equal({
      password: "***",
      auth_token: "***",
      apiKey: "***",
      to: "***",
      external_id: "***",
      nested: { clientSecret: ["***"] },
    });
  });

  it("keeps what is needed to find things again", () => {
    const kept = {
      secretName: "shop-events-signing",
      secretRef: { name: "shop-ios" },
      id: "msg_01J9ZK3V5T8Q2N7R4W6X1Y0ABC",
      uid: "0f8fad5b-d9cb-469f-a165-70867728950e",
      image: `registry.example/herald@sha256:${"ab12".repeat(16)}`,
      pod: "herald-dispatcher-7d9c5b9f6b-x2x4k-and-a-long-name-of-a-pod",
      event: "message.ended",
      durationMs: 12,
      at: "2026-01-01T00:00:00.000Z",
    };
    expect(maskValue(kept)).to.deep.equal(kept);
  });
});
