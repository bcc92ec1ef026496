import { expect } from "chai";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { senderOf } from "../../../../apiserver/conversations/sender.ts";

/** An app with accounts of which the senders alone are looked at. */
const anApp = (channels: object) => ({ channels }) as Pick<AppRow, "channels">;
const of = (app: object, body: Parameters<typeof senderOf>[1]) => {
  try {
    return senderOf(anApp(app), body);
  } catch (error) {
    return error instanceof Error ? error.message : expect.fail("it threw no error");
  }
};

describe("the sender of a conversation that an app begins", () => {
  const twilio = { sms: { twilio: { senders: ["+15005550006", "+15005550007"] } } };
  const service = { sms: { twilio: { messaging_service_sid: "MG1" } } };

  it("is the account's first, or the one of it that is named", () => {
    expect(of(twilio, { channel: "sms" })).to.equal("+15005550006");
    expect(of(twilio, { channel: "sms", sender_address: "+15005550007" })).to.equal("+15005550007");
    expect(of({ sms: { vonage: { senders: ["+1"] } } }, { channel: "sms" })).to.equal("+1");
    expect(of({ whatsapp: { phone_number_id: "106540352242922" } }, { channel: "whatsapp" })).to.equal(
      "106540352242922",
    );
    expect(of({ rcs: { sender: "rcs:shop" } }, { channel: "rcs" })).to.equal("rcs:shop");
  });

  it("is by mail where the account sends from, or another address of that domain", () => {
    const mail = { email: { from_address: "Shop@shop.example" } };
    expect(of(mail, { channel: "email" })).to.equal("shop@shop.example");
    expect(of(mail, { channel: "email", sender_address: "Help@SHOP.example" })).to.equal("help@shop.example");
    expect(of(mail, { channel: "email", sender_address: "help@another.example" })).to.contain("of the domain");
    expect(of({}, { channel: "email" })).to.contain("no account of email");
  });

  it("is no other one, and has to be named where a Messaging Service chooses", () => {
    expect(of(twilio, { channel: "sms", sender_address: "+1" })).to.contain("one of the app's senders");
    expect(of(service, { channel: "sms" })).to.contain("is required");
    expect(of(service, { channel: "sms", sender_address: "+1" })).to.equal("+1");
    expect(of({}, { channel: "sms" })).to.contain("no account of sms");
  });
});
