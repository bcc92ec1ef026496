import { expect } from "chai";
import { faultOf, type OutcomeKind } from "#core/domain/messages/outcome.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";
import { hmsOutcomes, hmsTable } from "../../../../../dispatcher/channels/hms-push/hms-outcomes.ts";

const now = new Date("2026-11-21T08:00:00Z");
type Expected = [OutcomeKind, DeliveryErrorCode];

const bodyOf = (code: string, msg = "words"): string => JSON.stringify({ code, msg, requestId: "17" });
const outcome = (status: number, body: string, retryAfter?: string) => hmsOutcomes({ status, body, retryAfter }, now);

/** Huawei's table of response codes, but for those that say of each token what became of it. */
const documented: [number, string, ...Expected][] = [
  [400, "80100001", "payload_error", "PROVIDER_REJECTED"],
  [400, "80100002", "payload_error", "PROVIDER_REJECTED"],
  [400, "80100003", "payload_error", "PROVIDER_REJECTED"],
  [400, "80100004", "payload_error", "PROVIDER_REJECTED"],
  [400, "80100013", "payload_error", "PROVIDER_REJECTED"],
  [400, "80100016", "payload_error", "CONTENT_BLOCKED"],
  [400, "80100017", "retry_at", "PROVIDER_RATE_LIMITED"],
  [401, "80200001", "config_error", "PROVIDER_AUTH"],
  [401, "80200003", "config_error", "PROVIDER_AUTH"],
  [200, "80300002", "config_error", "PROVIDER_AUTH"],
  [200, "80300007", "token_invalid", "TOKEN_INVALID"],
  [400, "80300008", "payload_error", "PAYLOAD_TOO_LARGE"],
  [400, "80300010", "payload_error", "PROVIDER_REJECTED"],
  [200, "80300011", "config_error", "PROVIDER_AUTH"],
  [200, "80300013", "config_error", "PROVIDER_AUTH"],
  [500, "80600003", "config_error", "PROVIDER_AUTH"],
  [500, "81000001", "retry_at", "PROVIDER_UNAVAILABLE"],
];
/** What single tokens or messages meet, which says nothing of the account. */
const isOfSome = ["80300002", "80300011", "80300013"];

const statuses: [number, ...Expected][] = [
  [400, "payload_error", "PROVIDER_REJECTED"],
  [401, "config_error", "PROVIDER_AUTH"],
  [404, "config_error", "PROVIDER_AUTH"],
  [413, "payload_error", "PAYLOAD_TOO_LARGE"],
  [429, "retry_at", "PROVIDER_RATE_LIMITED"],
  [500, "retry_at", "PROVIDER_UNAVAILABLE"],
  [502, "retry_at", "PROVIDER_UNAVAILABLE"],
  [503, "retry_at", "PROVIDER_RATE_LIMITED"],
];

describe("hmsOutcomes", () => {
  for (const [status, word, kind, code] of documented)
    it(`takes ${status} ${word} as ${kind}, ${code}`, () => {
      const found = outcome(status, bodyOf(word))("token");
      expect(found).to.include({ kind, code, providerCode: `${status} ${word}` });
      const isOfAll = (kind === "config_error" && !isOfSome.includes(word)) || code === "PROVIDER_UNAVAILABLE";
      expect(faultOf(found)).to.equal(isOfAll ? "provider" : null);
    });

  it("has a rule for the documented codes and no others", () => {
    const words = hmsTable.rows.flatMap(({ on }) => (typeof on === "string" ? on : []));
    expect(words.sort()).to.deep.equal(["80100000", ...documented.map(([, code]) => code)].sort());
  });

  for (const [status, kind, code] of statuses)
    it(`takes ${status} of a proxy, or with an unknown code, as ${kind}, ${code}`, () => {
      expect(outcome(status, "<html>")("token")).to.include({ kind, code });
      expect(outcome(status, bodyOf("89999999"))("token")).to.include({ kind, code });
    });

  it("gives the id of an accepted request", () => {
    expect(outcome(200, bodyOf("80000000"))("token")).to.deep.equal({ kind: "sent", providerId: "17" });
  });

  it("tells the tokens of a request apart that was sent to some", () => {
    const msg = JSON.stringify({ success: 2, failure: 1, illegal_tokens: ["bad"] });
    const of = outcome(200, bodyOf("80100000", msg));
    expect(["good", "bad", "better"].map((token) => of(token).kind)).to.deep.equal(["sent", "token_invalid", "sent"]);
    expect(of("bad")).to.include({ code: "TOKEN_INVALID", providerCode: "200 80100000" });
  });

  for (const msg of [
    "Check Parameter Partial Success",
    '{"success":1,"failure":1}',
    '{"illegal_tokens":[]}',
    "[",
    "null",
  ])
    it(`is uncertain of all when ${msg} does not name the refused tokens`, () => {
      expect(outcome(200, bodyOf("80100000", msg))("token").kind).to.equal("uncertain");
    });

  it("takes what is no answer of Push Kit for a refusal", () => {
    for (const body of ["null", '"80000000"', "{}", '{"code":80000000}'])
      expect(outcome(200, body)("token"), body).to.include({ kind: "payload_error", code: "PROVIDER_REJECTED" });
  });

  for (const { header, seconds } of [
    { header: undefined, seconds: 60 },
    { header: "90", seconds: 90 },
  ])
    it(`waits ${seconds} s when the rate is limited with Retry-After ${header ?? "left out"}`, () => {
      const at = new Date(now.getTime() + seconds * 1000);
      expect(outcome(503, "", header)("token")).to.deep.include({ at });
    });
});
