import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Origins, Outcome, Recipient } from "#core/domain/messages/outcome.ts";
import { type Breaker, breaker, type Spare } from "./breaker.ts";

export type AccountBreakers = {
  /** Makes the call that sends to a recipient, or answers in its place while the breaker is open. */
  run: (to: Recipient, call: () => Promise<Outcome>) => Promise<Outcome>;
  /** Whether others have been reached where this address leads to, and it has not failed since. */
  hasReached: (address: string) => boolean;
  /** Whether the provider itself is cut off. */
  isOpen: () => boolean;
};

const mostOrigins = 2_000; // of an account; an origin that was dropped has to answer again before it is trusted

/**
 * The breakers of one account: one for the provider, and one for each origin that addresses lead to, because whoever
 * registers an address chooses its origin. An origin that fails delays its own recipients only: until it has answered
 * once, two calls try it, and all origins that failed last share the account's spare places.
 */
export const accountBreakers = (clock: Clock, origins: Origins | undefined): AccountBreakers => {
  const provider = breaker({ clock, counts: "provider", isKnown: true });
  const { isOpen } = provider;
  if (origins === undefined) return { run: (_to, call) => provider.run(call), hasReached: () => true, isOpen };
  const spare = places(origins.spare);
  const breakers = new LRUCache<string, Breaker>({
    ...atMostEntries(mostOrigins),
    memoMethod: () => breaker({ clock, counts: "origin", isKnown: false, spare }),
  });
  return {
    run: ({ address }, call) => breakers.memo(origins.of(address)).run(() => provider.run(call)),
    hasReached: (address) => breakers.memo(origins.of(address)).isTrusted(),
    isOpen,
  };
};

const places = (count: number): Spare => {
  let free = count;
  return {
    take: () => free > 0 && free-- > 0,
    give: () => {
      free++;
    },
  };
};
