import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { signatureHeaders, signingKey } from "#core/domain/webhooks/signature.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const older = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const eventId = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const at = new Date(1614265330_000);
const body = '{"test": 2432232314}';

describe("the signature of a webhook", () => {
  it("is that of the example of Standard Webhooks", () => {
    const headers = signatureHeaders({ keys: [signingKey(secret)], eventId, at, body });
    expect(headers).to.include({
      "webhook-id": eventId,
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("says the same in our own header, in hex", () => {
    const headers = signatureHeaders({ keys: [signingKey(secret)], eventId, at, body });
    const hex = Buffer.from("g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "base64").toString("hex");
    expect(headers["service-signature"]).to.equal(`t=1614265330,v1=${hex}`);
  });

  it("is doubled while a previous secret is valid", () => {
    const headers = signatureHeaders({ keys: [signingKey(secret), signingKey(older)], eventId, at, body });
    expect(headers["service-signature"]).to.match(/^t=1614265330,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    expect(headers["webhook-signature"]?.split(" ")).to.have.lengthOf(2);
  });

  for (const [name, key] of [
    ["the current", secret],
    ["the previous", older],
  ] as const) {
    it(`is accepted by the standardwebhooks library with ${name} secret`, () => {
      const headers = signatureHeaders({
        keys: [signingKey(secret), signingKey(older)],
        eventId,
        at: new Date(),
        body,
      });
      expect(new Webhook(key).verify(body, headers)).to.deep.equal({ test: 2432232314 });
    });
  }

  it("does not fit another body", () => {
    const headers = signatureHeaders({ keys: [signingKey(secret)], eventId, at: new Date(), body });
    expect(() => new Webhook(secret).verify(`${body} `, headers)).to.throw();
  });
});
