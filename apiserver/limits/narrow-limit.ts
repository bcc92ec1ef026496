import { RateLimited } from "./rate.ts";
import type { GiveBack, TakeFrom } from "./take-token.ts";

/** So many calls in so many seconds; `burst` is how many may come at once, all of them when left out. */
export type Allowance = { calls: number; seconds: number; burst?: number };

/** A limit of one operation on one thing. Source: docs/reference/limits.md#narrow-rates. */
export type NarrowLimit = (operation: string, id: string, allowance: Allowance) => Promise<void>;

/** Counts calls of an operation. @throws RateLimited once they are used up; they come back one by one */
export const narrowLimit =
  (take: TakeFrom): NarrowLimit =>
  async (operation, id, { calls, seconds, burst = calls }) => {
    const state = await take(nameOf(operation, id), { capacity: burst, perSecond: calls / seconds });
    if (state.isAllowed) return;
    const message = `${operation} is allowed ${calls} times in ${seconds} s`;
    throw new RateLimited(operation, message, state, { limit: calls, window_seconds: seconds });
  };

/** Has a call that was counted not count: for operations of which only accepted calls do. */
export const uncount =
  ({ giveBack }: GiveBack): NarrowLimit =>
  (operation, id, { calls, seconds, burst = calls }) =>
    giveBack(nameOf(operation, id), { capacity: burst, perSecond: calls / seconds });

const nameOf = (operation: string, id: string): string => `limit:${operation}:${id}`;
