import { expect } from "chai";
import type { Outcome, Refusal } from "#core/domain/messages/outcome.ts";
import { resultOf } from "../../../../../dispatcher/messages/delivery/delivery-row.ts";
import { aChunk, aSubscription, noon } from "../../../../support/rows/work.ts";

const refusal: Refusal = { code: "TOKEN_UNREGISTERED", providerCode: "Unregistered", reason: "gone" };
const inAnHour = new Date(noon.getTime() + 3_600_000);
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
      const attempt = {
        deliveryId: "dlv_1",
        chunk: aChunk(),
        subscription: aSubscription(),
        provider: "apns",
        now: noon,
        expiresAt: inAnHour,
      };
      expect(resultOf(given, attempt)).to.containSubset(wanted);
    });
  }

  it("counts the attempts of a retry", () => {
    const attempt = {
      deliveryId: "dlv_1",
      chunk: aChunk({ attempt: 2 }),
      subscription: aSubscription(),
      provider: "apns",
      now: noon,
      expiresAt: inAnHour,
    };
    expect(resultOf({ kind: "sent", providerId: null }, attempt)).to.containSubset({ row: { attempts: 3 } });
  });
});
