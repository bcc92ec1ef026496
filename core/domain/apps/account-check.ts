import type { AccountResult } from "../../schema/apps/account.ts";
import { type Backoff, backoffMs, type Random } from "../backoff.ts";
import { dayMs } from "../durations.ts";
import type { Outcome } from "../messages/outcome.ts";

/** What a provider's answer to a check says of the account. */
export const accountResult = ({ kind }: Pick<Outcome, "kind">): AccountResult => {
  switch (kind) {
    case "sent":
    case "token_invalid": // it refused nothing but the address that nobody has
    case "opted_out":
      return "verified";
    case "config_error":
    case "payload_error": // a check that worked before is refused: somebody has to look
      return "refused";
    case "retry_at":
    case "uncertain":
      return "unreached";
  }
};

/** Between two checks. What is refused is mostly set right at the provider, of which nobody tells us. */
const pauses: Record<AccountResult, Backoff> = {
  verified: { firstMs: dayMs, capMs: dayMs, factor: 1 },
  refused: { firstMs: 3_600_000, capMs: 3_600_000, factor: 1 },
  unreached: { firstMs: 60_000, capMs: 3_600_000, factor: 2 },
};

/** When an account is checked again, ms from now; `times` is how often it has come to this result in a row, from 1. */
export const nextCheckMs = (result: AccountResult, times: number, random: Random): number =>
  backoffMs(pauses[result], times - 1, random);
