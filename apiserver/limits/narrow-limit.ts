import { type Allowance, narrowRates, type RateName } from "./narrow-rates.ts";
import { RateLimited } from "./rate.ts";
import type { GiveBack, TakeFrom } from "./take-token.ts";

/**
 * Counts a call of an operation on one thing, whose id is `id`; `calls` is how many a plan allows that allows more than usual.
 * @throws RateLimited once they are used up; they come back one by one
 */
export type NarrowLimit = (rate: RateName, id: string, calls?: number) => Promise<void>;

export const narrowLimit =
  (take: TakeFrom): NarrowLimit =>
  async (rate, id, calls) => {
    const allowance = allowanceOf(rate, calls);
    const state = await take(nameOf(rate, id), bucketOf(allowance));
    if (state.isAllowed) return;
    const { calls: limit, seconds } = allowance;
    const message = `${rate} is allowed ${limit} times in ${seconds} s`;
    throw new RateLimited(rate, message, state, { limit, window_seconds: seconds });
  };

/** Has a call that was counted not count: for operations of which only accepted calls do. */
export const uncount =
  ({ giveBack }: GiveBack): NarrowLimit =>
  (rate, id, calls) =>
    giveBack(nameOf(rate, id), bucketOf(allowanceOf(rate, calls)));

const allowanceOf = (rate: RateName, calls = 0): Allowance => {
  const usual = narrowRates[rate];
  return { ...usual, calls: Math.max(usual.calls, calls) };
};

const bucketOf = ({ calls, seconds, burst = calls }: Allowance) => ({ capacity: burst, perSecond: calls / seconds });

const nameOf = (rate: RateName, id: string): string => `limit:${rate}:${id}`;
