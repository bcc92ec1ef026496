import { expect } from "chai";
import type { Outcome, Refusal } from "#core/domain/messages/outcome.ts";
import { expire, resultOf, suppress } from "../../../../../dispatcher/messages/delivery/delivery-row.ts";
import { aChunk, anAttempt, noon } from "../../../../support/rows/work.ts";

const refusal: Refusal = { code: "TOKEN_UNREGISTERED", providerCode: "Unregistered", reason: "gone" };
const later = new Date(noon.getTime() + 7_200_000);

const cases: { it: string; given: Outcome; expect: object }[] = [
  {
    it: "stores an accepted push as sent with the provider's id",
    given: { kind: "sent", providerId: "p-1" },
    expect: { kind: "final", row: { status: "sent", provider_message_id: "p-1", sent_at: noon, attempts: 1 } },
  },
  {
    it: "stores a push whose answer was lost as sent and uncertain, never as failed",
    given: { kind: "uncertain", reason: "reset" },
    expect: { kind: "final", row: { status: "sent", uncertain: true, error_message: "reset" } },
  },
  {
    it: "stores a dead token as failed with the provider's own code",
    given: { kind: "token_invalid", ...refusal },
    expect: {
      kind: "final",
      row: { status: "failed", error_code: "TOKEN_UNREGISTERED", provider_code: "Unregistered" },
    },
  },
  {
    it: "stores a configuration error as errored",
    given: { kind: "config_error", ...refusal, code: "PROVIDER_AUTH" },
    expect: { kind: "final", row: { status: "errored", error_code: "PROVIDER_AUTH" } },
  },
  {
    it: "stores a refused payload as errored",
    given: { kind: "payload_error", ...refusal, code: "PAYLOAD_TOO_LARGE" },
    expect: { kind: "final", row: { status: "errored", error_code: "PAYLOAD_TOO_LARGE" } },
  },
  {
    it: "tries again at an instant inside the ttl",
    given: { kind: "retry_at", at: noon, ...refusal, code: "PROVIDER_UNAVAILABLE" },
    expect: { kind: "again", at: noon },
  },
  {
    it: "stores a retry beyond the ttl as expired and keeps the provider's code",
    given: { kind: "retry_at", at: later, ...refusal, code: "PROVIDER_UNAVAILABLE", providerCode: "503" },
    expect: {
      kind: "final",
      row: { status: "expired", error_code: "EXPIRED", provider_code: "503", expired_at: noon },
    },
  },
  {
    it: "keeps since when an address is gone",
    given: { kind: "token_invalid", since: later, ...refusal, code: "TOKEN_UNREGISTERED" },
    expect: { kind: "final", row: { status: "failed", gone_since: later } },
  },
  {
    it: "takes an address for gone since now when the provider does not say",
    given: { kind: "token_invalid", ...refusal, code: "HARD_BOUNCE" },
    expect: { kind: "final", row: { gone_since: noon, bounce_type: "hard" } },
  },
  {
    it: "stores a mail that was deferred until its end as a soft bounce",
    given: { kind: "retry_at", at: later, ...refusal, code: "SOFT_BOUNCE" },
    expect: { kind: "final", row: { status: "expired", error_code: "EXPIRED", bounce_type: "soft" } },
  },
];

describe("resultOf", () => {
  for (const { it: name, given, expect: wanted } of cases) {
    it(name, () => {
      expect(resultOf(given, anAttempt())).to.containSubset(wanted);
    });
  }

  it("counts the attempts of a retry", () => {
    const attempt = anAttempt({ chunk: aChunk({ attempt: 2 }) });
    expect(resultOf({ kind: "sent", providerId: null }, attempt)).to.containSubset({ row: { attempts: 3 } });
  });
});

const lost: Outcome = { kind: "uncertain", reason: "reset" };
const busy: Outcome = { kind: "retry_at", at: later, ...refusal, code: "PROVIDER_UNAVAILABLE" };
const uncertain = { status: "sent", uncertain: true };

describe("a push that a repeat replaces", () => {
  const repeated = anAttempt({ chunk: aChunk({ attempt: 1, may_have_arrived: true }), isReplaceable: true });

  const lostIn = (attempt: number) => resultOf(lost, anAttempt({ chunk: aChunk({ attempt }), isReplaceable: true }));

  it("is sent again when its answer was lost", () => {
    const again = { kind: "again", at: noon, again: { mayHaveArrived: true, tried: { at: noon, answer: "reset" } } };
    expect([lostIn(0), lostIn(9)]).to.containSubset([again, again]);
  });

  it("is uncertain when the answers of ten repeats were lost, too", () => {
    expect(lostIn(10)).to.containSubset({ kind: "final", row: uncertain });
  });

  it("is uncertain when its answer was lost and the ttl has ended", () => {
    const late = anAttempt({ isReplaceable: true, expiresAt: noon });
    expect(resultOf(lost, late)).to.containSubset({ kind: "final", row: uncertain });
  });

  it("may still have arrived by its first attempt while its repeat has to wait", () => {
    const soon: Outcome = { ...busy, at: noon };
    const again = { mayHaveArrived: true, tried: { at: noon, answer: "gone", code: "PROVIDER_UNAVAILABLE" } };
    expect(resultOf(soon, repeated)).to.containSubset({ kind: "again", at: noon, again });
  });

  it("is uncertain, and not expired, when no repeat was accepted within the ttl", () => {
    expect(resultOf(busy, repeated)).to.containSubset({ kind: "final", row: { ...uncertain, attempts: 2 } });
    expect(expire(repeated)).to.include({ ...uncertain, attempts: 1 });
  });

  it("is uncertain, and not suppressed, when its recipient wants nothing more before the repeat", () => {
    expect(suppress(repeated, "unsubscribed")).to.include(uncertain).and.not.have.property("suppression_reason");
  });

  it("is sent for certain once a repeat was accepted", () => {
    const result = resultOf({ kind: "sent", providerId: "p-1" }, repeated);
    expect(result).to.containSubset({ row: { status: "sent", attempts: 2 } });
    expect(result).not.to.have.nested.property("row.uncertain");
  });
});
