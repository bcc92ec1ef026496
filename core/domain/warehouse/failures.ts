import { dayMs } from "../durations.ts";

const minuteMs = 60_000;

/** How long after each failure a run is tried again, ms. Source: docs/reference/warehouse.md#failures. */
export const retryDelaysMs = [1, 5, 15, 60, 240].map((minutes) => minutes * minuteMs);

type Standing = { failure_count: number; failing_since: Date | null };

/** What a run that was given up makes of its export: failing after three in a row, paused after 14 days. */
export const afterFailure = (
  { failure_count, failing_since }: Standing,
  code: string,
  now: Date,
): {
  failure_count: number;
  failing_since: Date;
  status: "active" | "failing" | "paused";
  pause_reason: string | null;
} => {
  const count = failure_count + 1;
  const since = failing_since ?? now;
  const common = { failure_count: count, failing_since: since };
  if (count >= failingAfter && now.getTime() - since.getTime() >= pausedAfterMs)
    return { ...common, status: "paused", pause_reason: code === "AUTH" ? "auth" : "failing" };
  return { ...common, status: count >= failingAfter ? "failing" : "active", pause_reason: null };
};

const failingAfter = 3;
const pausedAfterMs = 14 * dayMs;
