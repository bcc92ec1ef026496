import { hash } from "node:crypto";
import { expect } from "chai";
import type { CallbackRequest } from "#core/channels/kit/callbacks.ts";
import { signatureOf, statusPart } from "#core/channels/kit/twilio/callbacks.ts";
import { twilio } from "#core/channels/sms/callbacks/twilio.ts";

const authToken = "12345";
const account = { twilio: { auth_token: authToken } };
const now = new Date("2026-11-22T12:00:00Z");
const deliveryId = "dlv_01JDKQ4WSM8V5CRA2E9MHX3TNB";
const base = "https://api.example/ingress/twilio/app_1/";

/** A request that Twilio signed: name by name in their order, or the hash of a JSON body in the address. */
const signed = (part: string, members: [string, string][] | object): CallbackRequest => {
  const isForm = Array.isArray(members);
  const body = isForm ? new URLSearchParams(members as [string, string][]).toString() : JSON.stringify(members);
  const url = base + part + (isForm ? "" : `?bodySHA256=${hash("sha256", body)}`);
  const sorted = isForm
    ? [...(members as [string, string][])]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flat()
        .join("")
    : "";
  const headers: Record<string, string> = {
    "x-twilio-signature": signatureOf(url + sorted, authToken),
    "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
  };
  return { method: "POST", part, url, header: (name) => headers[name] ?? null, body: Buffer.from(body) };
};

const verify = (request: CallbackRequest, of: typeof account | { twilio: null } = account) =>
  twilio.verify(request, { account: of, now });

const read = (part: string, members: [string, string][] | object) => {
  const { url, body, header } = signed(part, members);
  return twilio.read({ part, url, body, contentType: header("content-type") ?? "", receivedAt: now });
};

const status = (value: string, more: [string, string][] = []): [string, string][] => [
  ["MessageSid", "SM0123"],
  ["MessageStatus", value],
  ["To", "+4915112345678"],
  ["From", "+15005550006"],
  ...more,
];

describe("a callback of Twilio", () => {
  it("is signed as Twilio's own example says", () => {
    const text =
      "https://example.com/myapp.php?foo=1&bar=2CallSidCA1234567890ABCDECaller+14158675310Digits1234From+14158675310To+18005551212";
    expect(signatureOf(text, authToken)).to.equal("L/OH5YylLD5NRKLltdqwSvS0BnU=");
  });

  it("is taken with its signature", () => {
    expect(verify(signed(statusPart(deliveryId), status("delivered")))).to.include({ kind: "queued" });
  });

  it("is taken when Twilio signed the address with its port", () => {
    const request = signed("status", []);
    const signature = signatureOf(request.url.replace("api.example", "api.example:443"), authToken);
    expect(verify({ ...request, header: () => signature })).to.include({ kind: "queued" });
  });

  it("is taken as JSON, whose hash the address carries", () => {
    expect(verify(signed("status", { MessageSid: "SM0123" }))).to.include({ kind: "queued" });
  });

  it("gets TwiML that answers nothing when it is a message", () => {
    const verdict = verify(signed("messages", status("received", [["Body", "hi"]])));
    expect(verdict).to.deep.equal({
      kind: "queued",
      reply: { contentType: "text/xml", text: "<Response></Response>" },
    });
  });

  const altered: { it: string; change: (request: CallbackRequest) => CallbackRequest; of?: { twilio: null } }[] = [
    { it: "another body", change: (one) => ({ ...one, body: Buffer.from("MessageStatus=failed") }) },
    { it: "another delivery", change: (one) => ({ ...one, url: `${base}status/dlv_2` }) },
    { it: "another signature", change: (one) => ({ ...one, header: () => "AAAA" }) },
    { it: "no signature", change: (one) => ({ ...one, header: () => null }) },
  ];
  for (const { it: name, change } of altered) {
    it(`is refused with ${name}`, () => {
      expect(verify(change(signed(statusPart(deliveryId), status("delivered"))))).to.deep.equal({ kind: "refused" });
    });
  }

  it("is refused as JSON with another body", () => {
    const request = signed("status", { MessageSid: "SM0123" });
    expect(verify({ ...request, body: Buffer.from("{}") })).to.deep.equal({ kind: "refused" });
  });

  for (const { it: name, request, of } of [
    { it: "another part", request: signed("else", []), of: account },
    { it: "an account of another provider", request: signed("status", []), of: { twilio: null } },
    { it: "another method", request: { ...signed("status", []), method: "GET" as const }, of: account },
  ]) {
    it(`is unknown with ${name}`, () => {
      expect(verify(request, of)).to.deep.equal({ kind: "unknown" });
    });
  }

  const statuses: { value: string; code?: string; fact: object | null }[] = [
    { value: "queued", fact: null },
    { value: "sending", fact: null },
    { value: "sent", fact: { kind: "sent" } },
    { value: "delivered", fact: { kind: "delivered" } },
    { value: "read", fact: { kind: "opened", machine: false } },
    {
      value: "undelivered",
      code: "30003",
      fact: { kind: "failed", code: "RECIPIENT_UNREACHABLE" },
    },
    {
      value: "undelivered",
      code: "30004",
      fact: { kind: "failed", code: "RECIPIENT_UNREACHABLE" },
    },
    {
      value: "undelivered",
      code: "30005",
      fact: { kind: "failed", code: "RECIPIENT_INVALID", suppress: "invalid_address" },
    },
    {
      value: "undelivered",
      code: "30006",
      fact: { kind: "failed", code: "LANDLINE", suppress: "invalid_address", isDoubtful: true },
    },
    { value: "undelivered", code: "30007", fact: { kind: "errored", code: "SPAM_REJECTED" } },
    { value: "undelivered", code: "30008", fact: { kind: "failed", code: "RECIPIENT_UNREACHABLE" } },
    {
      value: "failed",
      code: "21610",
      fact: { kind: "failed", code: "RECIPIENT_OPTED_OUT", suppress: "unsubscribe" },
    },
    { value: "failed", code: "30001", fact: { kind: "errored", code: "PROVIDER_REJECTED" } },
    { value: "failed", code: "99999", fact: { kind: "errored", code: "PROVIDER_REJECTED" } },
  ];
  for (const { value, code, fact } of statuses) {
    it(`tells ${JSON.stringify(fact?.["kind" as never] ?? "nothing")} with ${value} ${code ?? ""}`, () => {
      const { receipts } = read(statusPart(deliveryId), status(value, code === undefined ? [] : [["ErrorCode", code]]));
      expect(receipts).to.have.length(fact === null ? 0 : 1);
      if (fact !== null) expect(receipts[0]).to.include({ deliveryId, providerId: "SM0123", ...fact });
    });
  }

  for (const code of ["30003", "30004", "30007", "30008"])
    it(`suppresses nobody for ${code}: the phone is off, or the message was blocked`, () => {
      const { receipts } = read(statusPart(deliveryId), status("undelivered", [["ErrorCode", code]]));
      expect(receipts[0]).to.not.have.property("suppress");
    });

  const words: { it: string; members: [string, string][]; word: string | null }[] = [
    {
      it: "what Twilio understood",
      members: [
        ["Body", "arrêter"],
        ["OptOutType", "STOP"],
      ],
      word: "stop",
    },
    { it: "a word", members: [["Body", " stop all "]], word: "stop" },
    { it: "a word to begin again", members: [["Body", "Unstop"]], word: "start" },
    { it: "a question", members: [["OptOutType", "HELP"]], word: "help" },
    { it: "any other text", members: [["Body", "please stop"]], word: null },
  ];
  for (const { it: name, members, word } of words) {
    it(`asks with ${name} for ${word}`, () => {
      const { inbound } = read("messages", [["MessageSid", "SM1"], ["From", "+4915112345678"], ...members]);
      expect(inbound).to.have.length(1);
      expect(inbound[0]).to.include({ providerId: "SM1", address: "+4915112345678", word });
      expect(inbound[0]?.at).to.deep.equal(now);
    });
  }

  it("is read as JSON, too", () => {
    expect(read("status", { MessageSid: "SM0123", MessageStatus: "delivered" }).receipts).to.deep.equal([
      { deliveryId: null, providerId: "SM0123", address: null, at: now, kind: "delivered" },
    ]);
  });
});
