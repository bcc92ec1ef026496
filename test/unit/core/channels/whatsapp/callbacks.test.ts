import { createHmac } from "node:crypto";
import { expect } from "chai";
import type { CallbackRequest } from "#core/channels/kit/callbacks.ts";
import { meta } from "#core/channels/whatsapp/callbacks.ts";
import { metaErrors } from "#core/channels/whatsapp/errors.ts";
import { keptMessageId } from "#core/channels/whatsapp/values.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";

const account = { phone_number_id: "106540352242922", app_secret: "secret", verify_token: "token" };
const now = new Date("2026-11-22T12:00:00Z");
const seconds = String(now.getTime() / 1_000);
const deliveryId = derivedId("delivery", "callback");
const wamid = "wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQTRBNjU5OUFFRTAzODEwMTQ0RgA=";

const bodyOf = (value: object, phoneNumberId = account.phone_number_id): Buffer => {
  const metadata = { display_phone_number: "15550783881", phone_number_id: phoneNumberId };
  const changes = [{ field: "messages", value: { messaging_product: "whatsapp", metadata, ...value } }];
  return Buffer.from(JSON.stringify({ object: "whatsapp_business_account", entry: [{ id: "1", changes }] }));
};
const signatureOf = (body: Buffer, secret = account.app_secret): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

const request = (over: Partial<CallbackRequest> & { signature?: string } = {}): CallbackRequest => {
  const { signature, ...rest } = over;
  return {
    method: "POST",
    part: account.phone_number_id,
    url: "https://herald.test/ingress/whatsapp/app_1/106540352242922",
    header: (name) => (name === "x-hub-signature-256" ? (signature ?? null) : null),
    body: Buffer.alloc(0),
    ...rest,
  };
};
const verify = (given: CallbackRequest) => meta.verify(given, { account, now });
const read = (body: Buffer) =>
  meta.read({
    part: account.phone_number_id,
    url: "https://x.test",
    body,
    contentType: "application/json",
    receivedAt: now,
  });

const status = (over: object): object => ({
  id: wamid,
  timestamp: seconds,
  recipient_id: "16505551234",
  biz_opaque_callback_data: deliveryId,
  ...over,
});
const receipts = (...statuses: object[]): Receipt[] => read(bodyOf({ statuses })).receipts;
const common = { deliveryId, providerId: keptMessageId(wamid), address: "+16505551234", at: now };

describe("callbacks of Meta", () => {
  const body = bodyOf({ statuses: [] });

  it("are taken with the signature of the raw body", () => {
    expect(verify(request({ body, signature: signatureOf(body) }))).to.deep.include({ kind: "queued" });
  });

  const forged: { it: string; over: Parameters<typeof request>[0] }[] = [
    { it: "without a signature", over: { body } },
    { it: "signed with another secret", over: { body, signature: signatureOf(body, "other") } },
    {
      it: "altered after they were signed",
      over: { body: Buffer.concat([body, Buffer.from(" ")]), signature: signatureOf(body) },
    },
    { it: "signed by SHA-1", over: { body, signature: signatureOf(body).replace("sha256", "sha1") } },
    { it: "with an empty signature", over: { body, signature: "" } },
  ];
  for (const { it: what, over } of forged)
    it(`are refused ${what}`, () => {
      expect(verify(request(over))).to.deep.equal({ kind: "refused" });
    });

  it("of another phone number are unknown", () => {
    expect(verify(request({ body, part: "1", signature: signatureOf(body) }))).to.deep.equal({ kind: "unknown" });
  });

  const handshake = (query: string) => verify(request({ method: "GET", url: `https://herald.test/ingress?${query}` }));

  it("begin with a handshake that gives the challenge back as text", () => {
    const verdict = handshake("hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=token");
    expect(verdict).to.deep.equal({ kind: "answered", reply: { contentType: "text/plain", text: "1158201444" } });
  });

  for (const query of [
    "hub.mode=subscribe&hub.challenge=1&hub.verify_token=tokem",
    "hub.mode=subscribe",
    "hub.verify_token=token",
    "",
  ])
    it(`refuse the handshake ${query || "of nobody"}`, () => {
      expect(handshake(query)).to.deep.equal({ kind: "refused" });
    });
});

describe("what Meta reports of a message", () => {
  it("is told by our own id, Meta's hashed id and Meta's instant", () => {
    expect(receipts(status({ status: "sent" }))).to.deep.equal([{ ...common, kind: "sent" }]);
    expect(receipts(status({ status: "delivered" }))).to.deep.equal([{ ...common, kind: "delivered" }]);
  });

  it("has been delivered when it was read, as Meta may leave that unsaid", () => {
    expect(receipts(status({ status: "read" }))).to.deep.equal([
      { ...common, kind: "delivered" },
      { ...common, kind: "opened", machine: false, userAgent: null },
    ]);
  });

  it("is found by Meta's id when there is no id of ours in it", () => {
    const [receipt] = receipts(status({ status: "sent", biz_opaque_callback_data: "of somebody else" }));
    expect(receipt).to.include({ deliveryId: null, providerId: keptMessageId(wamid) });
  });

  const failures: { code: number; becomes: object }[] = [
    {
      code: 131026,
      becomes: { kind: "failed", code: "RECIPIENT_UNREACHABLE", suppress: "invalid_address", isDoubtful: true },
    },
    { code: 131047, becomes: { kind: "errored", code: "SESSION_CLOSED" } },
    { code: 131050, becomes: { kind: "errored", code: "RECIPIENT_OPTED_OUT" } },
    { code: 131053, becomes: { kind: "errored", code: "MEDIA_UNAVAILABLE" } },
    { code: 132015, becomes: { kind: "errored", code: "TEMPLATE_REJECTED" } },
  ];
  for (const { code, becomes } of failures)
    it(`is ${JSON.stringify(becomes)} for a failure of code ${code}`, () => {
      const [receipt] = receipts(status({ status: "failed", errors: [{ code, title: "t" }] }));
      expect(receipt).to.include({ deliveryId, providerCode: String(code), ...becomes });
    });

  it("never has the code of a passing failure, which no delivery has", () => {
    for (const code of Object.keys(metaErrors)) {
      const [receipt] = receipts(status({ status: "failed", errors: [{ code: Number(code) }] }));
      expect(receipt, code)
        .to.have.property("code")
        .that.is.not.oneOf(["PROVIDER_RATE_LIMITED", "PROVIDER_UNAVAILABLE"]);
    }
  });

  it("is left out where it is no documented status or has no instant", () => {
    expect(
      receipts(status({ status: "played" }), status({ status: "sent", timestamp: "soon" }), { status: "sent" }),
    ).to.deep.equal([]);
  });

  it("is read of the phone number of its path alone", () => {
    expect(read(bodyOf({ statuses: [status({ status: "sent" })] }, "999999"))).to.deep.equal({
      receipts: [],
      inbound: [],
    });
  });

  it("never throws for members of other types", () => {
    for (const odd of [null, 7, "x", [], {}, [null], [{ changes: [{ field: "messages", value: null }] }]]) {
      expect(read(Buffer.from(JSON.stringify({ entry: odd })))).to.deep.equal({ receipts: [], inbound: [] });
    }
    expect(() => read(Buffer.from("<html>"))).to.throw("JSON");
  });
});

describe("what people write on WhatsApp", () => {
  const message = (over: object): object => ({
    from: "16505551234",
    id: wamid,
    timestamp: seconds,
    type: "text",
    ...over,
  });
  const inbound = (...messages: object[]) => read(bodyOf({ messages })).inbound;
  const wrote = { providerId: keptMessageId(wamid), rawId: wamid, address: "+16505551234" };

  const messages: { it: string; over: object; word: string | null }[] = [
    { it: "a text", over: { text: { body: "Does it come in red?" } }, word: null },
    { it: "STOP", over: { text: { body: " stop " } }, word: "stop" },
    { it: "START", over: { text: { body: "Start" } }, word: "start" },
    {
      it: "a template's button that says STOP",
      over: { type: "button", button: { text: "Stop", payload: "p" } },
      word: "stop",
    },
    {
      it: "a button that says UNSUBSCRIBE",
      over: {
        type: "interactive",
        interactive: { type: "button_reply", button_reply: { id: "u", title: "Unsubscribe" } },
      },
      word: "stop",
    },
    {
      it: "a row of a list",
      over: { type: "interactive", interactive: { type: "list_reply", list_reply: { id: "r", title: "Red" } } },
      word: null,
    },
    { it: "an image", over: { type: "image", image: { id: "1" } }, word: null },
  ];
  for (const { it: what, over, word } of messages)
    it(`has ${what} with the word ${word ?? "of none"}`, () => {
      const [first, ...others] = inbound(message(over));
      expect(others).to.deep.equal([]);
      expect(first).to.include({ ...wrote, sender: account.phone_number_id, word });
      expect(first?.at).to.deep.equal(now);
    });

  it("leaves out notices of Meta, and people whose number Meta keeps to itself", () => {
    const hidden = { id: wamid, from_user_id: "US.1349", timestamp: seconds, type: "text", text: { body: "STOP" } };
    expect(inbound(message({ type: "system" }), hidden)).to.deep.equal([]);
  });
});
