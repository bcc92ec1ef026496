import { expect } from "chai";
import { faultOf, type OutcomeKind } from "#core/domain/messages/outcome.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";
import { metaOutcome, metaTable } from "../../../../../dispatcher/channels/whatsapp/meta-outcomes.ts";

const now = new Date("2026-11-22T12:00:00Z");

const metaError = (code: number): string =>
  JSON.stringify({
    error: {
      message: `(#${code}) title`,
      type: "OAuthException",
      code,
      error_data: { details: "+16505551234" },
      fbtrace_id: "x",
    },
  });

type Expected = [status: number, codes: number[], OutcomeKind, DeliveryErrorCode];

/** Meta's table of error codes, as far as they are about messages and the number that sends them. */
const documented: Expected[] = [
  [401, [0, 190], "config_error", "PROVIDER_AUTH"],
  [500, [3, 131045, 133000], "config_error", "PROVIDER_AUTH"],
  [403, [10, 368, 131005, 131031], "config_error", "PROVIDER_AUTH"],
  [400, [33, 131037, 131042, 133005, 133006, 133008, 133009, 133010, 133015], "config_error", "PROVIDER_AUTH"],
  [403, [130497], "config_error", "PROVIDER_REJECTED"],
  [400, [131030, 134011], "config_error", "PROVIDER_REJECTED"],
  [400, [4, 80007, 131048, 131056, 132069, 133016], "retry_at", "PROVIDER_RATE_LIMITED"],
  [429, [130429], "retry_at", "PROVIDER_RATE_LIMITED"],
  [503, [2, 133004], "retry_at", "PROVIDER_UNAVAILABLE"],
  [500, [131000, 131016, 131057], "retry_at", "PROVIDER_UNAVAILABLE"],
  [400, [134101], "retry_at", "PROVIDER_UNAVAILABLE"],
  [400, [131026], "payload_error", "RECIPIENT_UNREACHABLE"],
  [400, [131021], "payload_error", "RECIPIENT_INVALID"],
  [400, [131050], "payload_error", "RECIPIENT_OPTED_OUT"],
  [400, [131047], "payload_error", "SESSION_CLOSED"],
  [
    400,
    [1, 100, 130472, 131008, 131009, 131049, 131051, 131055, 131062, 134100, 135000],
    "payload_error",
    "PROVIDER_REJECTED",
  ],
  [404, [132001], "payload_error", "TEMPLATE_REJECTED"],
  [400, [132000, 132005, 132007, 132012, 132015, 132016, 132018, 132068, 134102], "payload_error", "TEMPLATE_REJECTED"],
  [400, [131052, 131053], "payload_error", "MEDIA_UNAVAILABLE"],
];

describe("metaOutcome", () => {
  for (const [status, codes, kind, code] of documented)
    it(`takes ${codes.join(", ")} as ${kind}, ${code}`, () => {
      for (const one of codes) {
        const outcome = metaOutcome({ status, body: metaError(one) }, now);
        expect(outcome, String(one)).to.include({ kind, code, providerCode: String(one) });
        expect(JSON.stringify(outcome)).not.to.contain("16505551234");
      }
    });

  it("has a rule for the documented codes and no others", () => {
    const known = metaTable.rows.flatMap(({ on }) => (typeof on === "string" ? on : []));
    expect(known.sort()).to.deep.equal(documented.flatMap(([, codes]) => codes.map(String)).sort());
  });

  it("blames the provider for what every recipient would be answered, and for its own faults", () => {
    const blamed = documented.filter(([, , , code]) => ["PROVIDER_AUTH", "PROVIDER_UNAVAILABLE"].includes(code));
    for (const [status, codes] of documented)
      for (const code of codes) {
        const isBlamed = blamed.some(([, of]) => of.includes(code)) && code !== 134101; // of one template
        expect(faultOf(metaOutcome({ status, body: metaError(code) }, now)), String(code)).to.equal(
          isBlamed ? "provider" : null,
        );
      }
  });

  const others: { it: string; status: number; body: string; kind: OutcomeKind; code: DeliveryErrorCode }[] = [
    { it: "a missing permission", status: 403, body: metaError(299), kind: "config_error", code: "PROVIDER_AUTH" },
    { it: "a page of a proxy", status: 502, body: "<html>Bad gateway", kind: "retry_at", code: "PROVIDER_UNAVAILABLE" },
    {
      it: "an unknown code by its status",
      status: 429,
      body: metaError(999),
      kind: "retry_at",
      code: "PROVIDER_RATE_LIMITED",
    },
    { it: "an unknown refusal", status: 400, body: metaError(999), kind: "payload_error", code: "PROVIDER_REJECTED" },
    {
      it: "an error of another shape",
      status: 400,
      body: '{"error":null}',
      kind: "payload_error",
      code: "PROVIDER_REJECTED",
    },
    { it: "a body that is too large", status: 413, body: "", kind: "payload_error", code: "PAYLOAD_TOO_LARGE" },
  ];
  for (const { it: what, status, body, kind, code } of others)
    it(`takes ${what} as ${kind}`, () => {
      expect(metaOutcome({ status, body }, now)).to.include({ kind, code });
    });

  it("tries a limit again after the 6 seconds of a pair of numbers, or when Meta says", () => {
    const limited = { status: 400, body: metaError(131056) };
    expect(metaOutcome(limited, now)).to.deep.include({ at: new Date(now.getTime() + 6_000) });
    expect(metaOutcome({ ...limited, retryAfter: "33" }, now)).to.deep.include({
      at: new Date(now.getTime() + 33_000),
    });
  });

  it("keeps Meta's id of a message as a hash, because the number stands in it", () => {
    const number = Buffer.from("16505551234").toString("base64").slice(0, 12);
    const body = `{"messaging_product":"whatsapp","messages":[{"id":"wamid.${number}","message_status":"accepted"}]}`;
    const outcome = metaOutcome({ status: 200, body }, now);
    expect(outcome).to.have.property("kind", "sent");
    expect(outcome)
      .to.have.property("providerId")
      .that.matches(/^[\w-]{43}$/);
    expect(metaOutcome({ status: 200, body: "{}" }, now)).to.deep.equal({ kind: "sent", providerId: null });
  });
});
