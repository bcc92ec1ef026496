import type { Random } from "../backoff.ts";

const minute = 60_000;
const hour = 60 * minute;

/** Between the requests of one delivery: seven in all. Source: decisions 10.3. */
const gapsMs = [minute, 5 * minute, 20 * minute, 80 * minute, 6 * hour, 24 * hour];

/** No wait is longer, whatever the endpoint asks for or chance adds. */
const longestMs = 24 * hour;

/** Requests that one delivery may take. */
export const maxWebhookRequests = gapsMs.length + 1;

/**
 * When to try again after `requests` failed ones: the schedule with 0 to 10 % of chance added, or what the endpoint asked
 * for with `Retry-After` when that is later; null after the last one.
 */
export const nextRequestAt = (requests: number, now: Date, retryAfter: Date | null, random: Random): Date | null => {
  const gapMs = gapsMs[requests - 1];
  if (gapMs === undefined) return null;
  const scheduledMs = gapMs * (1 + 0.1 * random());
  const askedMs = retryAfter === null ? 0 : retryAfter.getTime() - now.getTime();
  return new Date(now.getTime() + Math.min(Math.max(scheduledMs, askedMs), longestMs));
};
