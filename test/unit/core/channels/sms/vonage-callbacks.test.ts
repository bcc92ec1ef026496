import { createHmac, hash } from "node:crypto";
import { expect } from "chai";
import type { CallbackRequest } from "#core/channels/kit/callbacks.ts";
import { vonage } from "#core/channels/sms/callbacks/vonage.ts";

const secret = "a signature secret";
const account = { vonage: { signature_secret: secret } };
const now = new Date("2026-11-22T12:00:00Z");
const uuid = "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab";
const docs = "https://developer.vonage.com/api-errors/messages";

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");

type Token = { alg?: string; iat?: number; payload_hash?: string; secret?: string };

/** A request with the token that Vonage makes for its body. */
const signed = (part: string, members: object, token: Token = {}): CallbackRequest => {
  const body = Buffer.from(JSON.stringify(members));
  const claims = {
    iss: "Vonage",
    jti: uuid,
    iat: token.iat ?? now.getTime() / 1000,
    payload_hash: token.payload_hash ?? hash("sha256", body),
  };
  const text = `${encode({ alg: token.alg ?? "HS256", typ: "JWT" })}.${encode(claims)}`;
  const jwt = `${text}.${createHmac("sha256", token.secret ?? secret)
    .update(text)
    .digest("base64url")}`;
  const url = `https://api.example/ingress/vonage/app_1/${part}`;
  return { method: "POST", part, url, header: (name) => (name === "authorization" ? `Bearer ${jwt}` : null), body };
};

const verify = (request: CallbackRequest) => vonage.verify(request, { account, now }).kind;

const read = (part: string, members: object) => {
  const { url, body } = signed(part, members);
  return vonage.read({ part, url, body, contentType: "application/json", receivedAt: now });
};

describe("a callback of Vonage", () => {
  it("is taken with the token of its body", () => {
    expect(verify(signed("status", { status: "delivered" }))).to.equal("queued");
  });

  const forged: { it: string; token: Token }[] = [
    { it: "another secret", token: { secret: "another" } },
    { it: "another body's hash", token: { payload_hash: hash("sha256", "{}") } },
    { it: "no algorithm", token: { alg: "none" } },
    { it: "a token of 25 hours and a second ago", token: { iat: now.getTime() / 1000 - 90_001 } },
  ];
  for (const { it: name, token } of forged) {
    it(`is refused with ${name}`, () => {
      expect(verify(signed("status", { status: "delivered" }, token))).to.equal("refused");
    });
  }

  it("is refused without a token, and with what is none", () => {
    for (const text of [null, "Bearer a.b", "Bearer a.b.c", "Basic YTpi"])
      expect(verify({ ...signed("status", {}), header: () => text })).to.equal("refused");
  });

  it("is unknown at another part", () => {
    expect(verify(signed("else", {}))).to.equal("unknown");
  });

  const statuses: { status: string; code?: string; fact: object | null }[] = [
    { status: "submitted", fact: { kind: "sent" } },
    { status: "delivered", fact: { kind: "delivered" } },
    { status: "read", fact: { kind: "opened" } },
    { status: "rejected", code: "1240", fact: { kind: "failed", suppress: "carrier_opt_out", providerCode: "1240" } },
    { status: "undeliverable", code: "1190", fact: { kind: "failed", suppress: "invalid_address" } },
    { status: "undeliverable", code: "1180", fact: { kind: "failed", code: "RECIPIENT_UNREACHABLE" } },
    { status: "rejected", code: "1210", fact: { kind: "errored", code: "SPAM_REJECTED" } },
    { status: "rejected", fact: { kind: "errored", code: "PROVIDER_REJECTED", providerCode: null } },
    { status: "else", fact: null },
  ];
  for (const { status, code, fact } of statuses) {
    it(`tells what became of a delivery with ${status} ${code ?? ""}`, () => {
      const error = code === undefined ? {} : { error: { type: `${docs}#${code}`, title: code } };
      const body = { message_uuid: uuid, client_ref: "dlv_1", timestamp: "2026-11-22T11:59:00Z", status, ...error };
      const { receipts } = read("status", body);
      expect(receipts).to.have.length(fact === null ? 0 : 1);
      if (fact === null) return;
      expect(receipts[0]).to.include({ deliveryId: "dlv_1", providerId: uuid, ...fact });
      expect(receipts[0]?.at).to.deep.equal(new Date("2026-11-22T11:59:00Z"));
    });
  }

  it("has what a person wrote, with the number as this service writes it", () => {
    const { inbound } = read("inbound", { message_uuid: uuid, from: "4915112345678", to: "15005550006", text: "Stop" });
    const [message] = inbound;
    expect(message).to.include({ providerId: uuid, address: "+4915112345678", sender: "+15005550006", word: "stop" });
    expect(message?.at).to.deep.equal(now);
  });
});
