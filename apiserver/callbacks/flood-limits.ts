import type { Clock } from "#core/domain/clock.ts";
import { sourceOf } from "../http/middleware/edge-limit.ts";
import { localBuckets, RateLimited, type RateState } from "../limits/rate.ts";

const mostNames = 50_000; // 200 bytes each; the least recently seen are forgotten
/** Callbacks of one provider for one app, in this process: more than Twilio's or Meta's fastest sender causes. */
const ofSender = { capacity: 4_000, perSecond: 2_000 };
/** Requests of one source to one sender that are not signed, or to nobody: a wrong secret may be tried, a flood may not. */
const ofSource = { capacity: 100, perSecond: 2 };

/**
 * Floods cost nobody else: what is refused counts against where it came from and whom it was for, what is verified against
 * whose it is. So a forger does not use up what a provider may send, not even from behind the same proxy for other apps. Source: docs/reference/limits.md#callbacks.
 */
export const floodLimits = (clock: Clock) => {
  const senders = localBuckets({ max: mostNames, clock });
  const sources = localBuckets({ max: mostNames, clock });
  return {
    /** `to` is what was asked for, or null as long as it is nothing. @throws RateLimited when too much of that was refused */
    admit: (ip: string, to: string | null): void =>
      allow(sources.look(`${sourceOf(ip)} ${to}`, ofSource), "too many callbacks were refused"),
    refused: (ip: string, to: string | null): void => void sources.take(`${sourceOf(ip)} ${to}`, ofSource),
    /** @throws RateLimited */
    verified: (sender: string): void => allow(senders.take(sender, ofSender), "too many callbacks of this sender"),
  };
};

const allow = (state: RateState, message: string): void => {
  if (!state.isAllowed) throw new RateLimited(message, state);
};

export type FloodLimits = ReturnType<typeof floodLimits>;
