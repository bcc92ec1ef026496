import type { Random } from "../backoff.ts";

const minute = 60_000;
const hour = 60 * minute;

/** Waits between the requests of one delivery, which are seven. Source: docs/reference/webhooks.md#retries. */
const gapsMs = [minute, 5 * minute, 20 * minute, 80 * minute, 6 * hour, 24 * hour];

/** The longest wait, whatever the endpoint asks for and the jitter adds. */
const longestMs = 24 * hour;

/** Requests that one delivery may take. */
export const maxWebhookRequests = gapsMs.length + 1;

/**
 * When to try again after `requests` failed requests: the schedule with 0 to 10 % of jitter added, or what the endpoint
 * asked for with `Retry-After` when that is later; null after the last request.
 */
export const nextRequestAt = (requests: number, now: Date, retryAfter: Date | null, random: Random): Date | null => {
  const gapMs = gapsMs[requests - 1];
  if (gapMs === undefined) return null;
  const scheduledMs = gapMs * (1 + 0.1 * random());
  const askedMs = retryAfter === null ? 0 : retryAfter.getTime() - now.getTime();
  return new Date(now.getTime() + Math.min(Math.max(scheduledMs, askedMs), longestMs));
};
