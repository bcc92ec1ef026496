import { generateKeyPairSync } from "node:crypto";
import { expect } from "chai";
import { accountsOf, openAccount, withSecrets } from "#core/channels/accounts.ts";
import { BadSecret } from "#core/channels/kit/secret-text.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });
const texts: Record<string, string> = {
  auth_token: "token",
  api_key_secret: "secret",
  private_key: rsa.toString(),
  signature_secret: "signature",
};
const read = (_: { name: string }, key: string, parse: (text: string) => string): string => parse(texts[key] ?? "");
const secretRef = { name: "sms" };

describe("an account of SMS", () => {
  it("of Twilio has nothing of Vonage's, and no key that it does not name", () => {
    const twilio = { accountSid: "AC1", senders: ["+15005550006"] };
    expect(accountsOf({ sms: { provider: "twilio", twilio, secretRef } }, read)).to.deep.equal({
      sms: {
        provider: "twilio",
        twilio: {
          account_sid: "AC1",
          api_key_sid: null,
          auth_token: "token",
          api_key_secret: null,
          messaging_service_sid: null,
          senders: ["+15005550006"],
        },
        vonage: null,
      },
    });
  });

  it("of Twilio has the secret of the API key that it names", () => {
    const twilio = { accountSid: "AC1", apiKeySid: "SK1", messagingServiceSid: "MG1" };
    const { sms } = accountsOf({ sms: { provider: "twilio", twilio, secretRef } }, read);
    expect(sms?.twilio).to.include({ api_key_sid: "SK1", api_key_secret: "secret", senders: null });
  });

  it("of Vonage is sealed member by member, and opened as that provider's", () => {
    const vonage = { applicationId: "a", senders: ["Shop"] };
    const said = accountsOf({ sms: { provider: "vonage", vonage, secretRef } }, read);
    const sealed = withSecrets("app_1", said, (text, context) => ({ context, text }));
    expect(sealed.sms?.vonage).to.deep.include({
      signature_secret: { context: "apps/app_1/sms.vonage.signature_secret", text: "signature" },
    });
    const opened = openAccount({ _id: "app_1", channels: sealed }, "sms", ({ text }) => text);
    expect(opened).to.deep.include({ provider: "vonage", twilio: null });
    expect(opened?.vonage).to.include({ private_key: rsa.toString(), signature_secret: "signature" });
  });

  it("of Vonage is refused with what is no RSA key, which is not quoted", () => {
    const wrong = (_: { name: string }, key: string, parse: (text: string) => string) =>
      parse(key === "private_key" ? "not a key" : "x");
    const vonage = { applicationId: "a", senders: ["Shop"] };
    expect(() => accountsOf({ sms: { provider: "vonage", vonage, secretRef } }, wrong))
      .to.throw(BadSecret)
      .with.property("message")
      .that.does.not.contain("not a key");
  });
});
