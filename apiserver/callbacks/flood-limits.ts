import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import { sourceOf } from "../http/middleware/edge-limit.ts";
import { localBuckets, RateLimited, type RateState } from "../limits/rate.ts";

const mostNames = 50_000; // 200 bytes each; the least recently seen are forgotten
/** Verified callbacks of one provider for one app, in this process: more than Twilio's or Meta's fastest sender causes. */
const ofSender = { capacity: 4_000, perSecond: 2_000 };
/** Requests of one source to one sender that are not the provider's: a wrong secret may be tried. */
const ofForger = { capacity: 100, perSecond: 2 };
/** Requests of one source to one sender whose signature nobody can check yet, and those of all sources. */
const unchecked = { ofSource: { capacity: 100, perSecond: 2 }, ofAll: { capacity: 500, perSecond: 20 } };
/** Requests of one source to nobody: each costs a read of MongoDB. */
const toNobody = { capacity: 200, perSecond: 20 };

/**
 * Floods cost nobody else: what is refused counts against where it came from and whom it was for, what is verified against
 * whose it is. What a provider signed is taken however much from its address is refused, since it may share that with a
 * forger: a proxy's. Source: docs/reference/limits.md#callbacks.
 */
export const floodLimits = (clock: Clock) => {
  const senders = localBuckets({ max: mostNames, clock });
  const sources = localBuckets({ max: mostNames, clock });
  const known = new LRUCache<string, true>(atMostEntries(mostNames));
  return {
    /** Before it is looked up whom a request is for. @throws RateLimited when too many of its source were for nobody */
    admit: (ip: string, sender: string): void => {
      if (!known.has(sender)) allow(sources.look(sourceOf(ip), toNobody), tooMany);
    },
    /** Counts a request that is refused; gives the refusal once too many were. `sender` is null when that is nobody. */
    refused: (ip: string, sender: string | null): RateLimited | null => {
      const source = sourceOf(ip);
      const state = sender === null ? sources.take(source, toNobody) : sources.take(`${source} ${sender}`, ofForger);
      return state.isAllowed ? null : new RateLimited("callbacks", tooMany, state);
    },
    /** A request that waits in the queue for its certificate. @throws RateLimited when too many do */
    unchecked: (ip: string, sender: string): void => {
      allow(sources.take(`unchecked ${sourceOf(ip)} ${sender}`, unchecked.ofSource), tooManyUnchecked);
      allow(senders.take(`unchecked ${sender}`, unchecked.ofAll), tooManyUnchecked);
    },
    /** @throws RateLimited */
    verified: (sender: string): void => {
      known.set(sender, true);
      allow(senders.take(sender, ofSender), "too many callbacks of this sender");
    },
  };
};

const tooMany = "too many callbacks were refused";

const tooManyUnchecked = "too many callbacks wait for a certificate";

const allow = (state: RateState, message: string): void => {
  if (!state.isAllowed) throw new RateLimited("callbacks", message, state);
};

export type FloodLimits = ReturnType<typeof floodLimits>;
