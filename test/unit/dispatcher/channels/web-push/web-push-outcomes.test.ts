import { expect } from "chai";
import { faultOf, type OutcomeKind } from "#core/domain/messages/outcome.ts";
import { type DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";
import { webPushOutcome } from "../../../../../dispatcher/channels/web-push/web-push-outcomes.ts";

const now = new Date("2026-11-21T12:00:00Z");
const outcome = (status: number, body = "", headers: Record<string, string> = {}) =>
  webPushOutcome({ status, headers, body }, now);

type Row = { status: number; body?: string; kind: OutcomeKind; code?: DeliveryErrorCode; providerCode?: string };

const rows: Row[] = [
  { status: 200, kind: "sent" },
  { status: 201, kind: "sent" },
  { status: 202, kind: "sent" },
  { status: 301, kind: "payload_error", code: "PROVIDER_REJECTED", providerCode: "301" },
  { status: 400, kind: "payload_error", code: "PROVIDER_REJECTED", providerCode: "400" },
  { status: 400, body: '{"errno":111}', kind: "payload_error", code: "PROVIDER_REJECTED", providerCode: "400 111" },
  {
    status: 400,
    body: '{"reason":"VapidPkHashMismatch"}',
    kind: "config_error",
    code: "SENDER_MISMATCH",
    providerCode: "400 VapidPkHashMismatch",
  },
  { status: 400, body: "UnauthorizedRegistration", kind: "config_error", code: "SENDER_MISMATCH", providerCode: "400" },
  { status: 401, kind: "config_error", code: "PROVIDER_AUTH", providerCode: "401" },
  {
    status: 401,
    body: '{"code":401,"errno":109}',
    kind: "config_error",
    code: "PROVIDER_AUTH",
    providerCode: "401 109",
  },
  { status: 403, kind: "config_error", code: "PROVIDER_AUTH", providerCode: "403" },
  {
    status: 403,
    body: '{"reason":"BadJwtToken"}',
    kind: "config_error",
    code: "PROVIDER_AUTH",
    providerCode: "403 BadJwtToken",
  },
  {
    status: 403,
    body: "the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.",
    kind: "config_error",
    code: "SENDER_MISMATCH",
    providerCode: "403",
  },
  { status: 404, kind: "token_invalid", code: "TOKEN_UNREGISTERED", providerCode: "404" },
  { status: 404, body: '{"errno":102}', kind: "token_invalid", code: "TOKEN_UNREGISTERED", providerCode: "404 102" },
  { status: 406, kind: "retry_at", code: "PROVIDER_RATE_LIMITED", providerCode: "406" },
  { status: 408, kind: "retry_at", code: "PROVIDER_UNAVAILABLE", providerCode: "408" },
  { status: 410, body: '{"errno":103}', kind: "token_invalid", code: "TOKEN_UNREGISTERED", providerCode: "410 103" },
  {
    status: 410,
    body: '{"reason":"Unregistered"}',
    kind: "token_invalid",
    code: "TOKEN_UNREGISTERED",
    providerCode: "410 Unregistered",
  },
  { status: 413, kind: "payload_error", code: "PAYLOAD_TOO_LARGE", providerCode: "413" },
  { status: 418, kind: "payload_error", code: "PROVIDER_REJECTED", providerCode: "418" },
  { status: 429, kind: "retry_at", code: "PROVIDER_RATE_LIMITED", providerCode: "429" },
  { status: 500, kind: "retry_at", code: "PROVIDER_UNAVAILABLE", providerCode: "500" },
  { status: 502, kind: "retry_at", code: "PROVIDER_UNAVAILABLE", providerCode: "502" },
  { status: 503, kind: "retry_at", code: "PROVIDER_UNAVAILABLE", providerCode: "503" },
  { status: 504, kind: "retry_at", code: "PROVIDER_UNAVAILABLE", providerCode: "504" },
];

describe("an answer of a push service", () => {
  for (const { status, body, kind, code, providerCode } of rows) {
    it(`${status} ${body ?? ""} is ${kind}`, () => {
      const got = outcome(status, body);
      expect(got.kind).to.equal(kind);
      if (code !== undefined) expect(got).to.include({ code, providerCode });
      expect(faultOf(got)).to.equal(code === "PROVIDER_UNAVAILABLE" ? "origin" : null);
    });
  }

  const waits: { it: string; status: number; header: string | null; seconds: number }[] = [
    { it: "waits as long as it is asked to", status: 503, header: "7", seconds: 7 },
    { it: "waits until the date that it is given", status: 429, header: "Sat, 21 Nov 2026 12:02:00 GMT", seconds: 120 },
    { it: "waits a day at most", status: 503, header: "999999", seconds: 86_400 },
    { it: "waits a minute after a 429 by itself", status: 429, header: null, seconds: 60 },
    { it: "waits shortly after a fault by itself", status: 500, header: null, seconds: 10 },
    { it: "does not read nonsense", status: 429, header: "soon", seconds: 60 },
  ];
  for (const { it: name, status, header, seconds } of waits) {
    it(name, () => {
      const got = outcome(status, "", header === null ? {} : { "retry-after": header });
      expect(got.kind === "retry_at" && got.at.getTime() - now.getTime()).to.equal(seconds * 1000);
    });
  }

  it("gives the last part of the message's address as the provider's id", () => {
    expect(outcome(201, "", { location: "https://push.test/m/abc" })).to.deep.equal({
      kind: "sent",
      providerId: "abc",
    });
  });
});
