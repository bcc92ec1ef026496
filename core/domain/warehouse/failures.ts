import { dayMs } from "../durations.ts";

const minuteMs = 60_000;

/** How long after each failure a run is tried again, ms. Source: docs/reference/warehouse.md#failures. */
export const retryDelaysMs = [1, 5, 15, 60, 240].map((minutes) => minutes * minuteMs);

type Written = { is_done: boolean; is_left?: true };

type Next = { isLast: boolean } & (
  | { kind: "retry"; delayMs: number; attempt: number }
  | { kind: "leave"; left: number[] }
  | { kind: "giveUp" }
);

/**
 * What comes after the attempt of this number (from 0) that failed. After the last one the datasets that are written are handed over
 * without the others. A run whose datasets are written is never given up: its manifest may be in the store although the store
 * did not say so, and a run in its place would repeat it. Unless the export `hasMoved` to another store, which has no such manifest.
 */
export const afterAttempt = (attempt: number, datasets: readonly Written[], hasMoved = false): Next => {
  const delayMs = retryDelaysMs[attempt];
  if (delayMs !== undefined) return { isLast: false, kind: "retry", delayMs, attempt: attempt + 1 };
  const left = datasets.flatMap(({ is_done: isDone, is_left: isLeft }, index) =>
    isDone || isLeft === true ? [] : [index],
  );
  if (left.length === 0 && !hasMoved) return { isLast: true, kind: "retry", delayMs: longestMs, attempt };
  return left.length > 0 && left.length < datasets.length
    ? { isLast: true, kind: "leave", left }
    : { isLast: true, kind: "giveUp" };
};

const longestMs = 240 * minuteMs;

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
