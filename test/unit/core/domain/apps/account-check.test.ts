import { expect } from "chai";
import { accountResult, nextCheckMs } from "#core/domain/apps/account-check.ts";
import type { OutcomeKind } from "#core/domain/messages/outcome.ts";
import type { AccountResult } from "#core/schema/apps/account.ts";

const minuteMs = 60_000;

describe("the connection test of an account", () => {
  const results: Record<OutcomeKind, AccountResult> = {
    sent: "verified",
    token_invalid: "verified",
    opted_out: "verified",
    config_error: "refused",
    payload_error: "refused",
    retry_at: "unreached",
    uncertain: "unreached",
  };
  for (const [kind, result] of Object.entries(results) as [OutcomeKind, AccountResult][]) {
    it(`finds an account ${result} by ${kind}`, () => {
      expect(accountResult({ kind })).to.equal(result);
    });
  }

  const pauses: { result: AccountResult; times: number; minutes: number }[] = [
    { result: "verified", times: 1, minutes: 1_440 },
    { result: "verified", times: 30, minutes: 1_440 },
    { result: "refused", times: 1, minutes: 60 },
    { result: "refused", times: 9, minutes: 60 },
    { result: "unreached", times: 1, minutes: 1 },
    { result: "unreached", times: 4, minutes: 8 },
    { result: "unreached", times: 400, minutes: 60 },
  ];
  for (const { result, times, minutes } of pauses) {
    it(`comes again within ${minutes} minutes, and not in half of them, when it is ${result} for the ${times}. time`, () => {
      expect(nextCheckMs(result, times, () => 0)).to.equal((minutes * minuteMs) / 2);
      expect(nextCheckMs(result, times, () => 0.999_999)).to.be.closeTo(minutes * minuteMs, minutes);
    });
  }
});
