import { dayMs } from "../durations.ts";

/** How an endpoint is doing. Source: docs/reference/webhooks.md#health. */
export type WebhookHealth = {
  status: "active" | "failing" | "disabled";
  /** Failed requests since the last success. */
  failure_count: number;
  /** First of them; absent when there is none. */
  streak_since?: Date | null;
  /** The same instant once the endpoint counts as failing; null before. */
  failing_since: Date | null;
  last_success_at: Date | null;
  last_failure_at: Date | null;
};

/** One request: whether it succeeded, and whether its delivery has thereby used up its requests. */
export type WebhookRequestEnd = { succeeded: boolean; died: boolean; at: Date };

/** An endpoint is failing after so many failed requests in a row over so long, or once a delivery is dead. */
const failingAfter = { requests: 10, ms: 600_000 };

/** The health after one more request. A disabled endpoint stays disabled. */
export const healthAfter = (health: WebhookHealth, { succeeded, died, at }: WebhookRequestEnd): WebhookHealth => {
  if (succeeded) {
    const status = health.status === "failing" ? "active" : health.status;
    return { ...health, status, failure_count: 0, streak_since: null, failing_since: null, last_success_at: at };
  }
  const failures = health.failure_count + 1;
  const since = health.failure_count === 0 ? at : (health.streak_since ?? at);
  const isLong = failures >= failingAfter.requests && at.getTime() - since.getTime() >= failingAfter.ms;
  const isFailing = health.status === "failing" || (health.status === "active" && (died || isLong));
  return {
    ...health,
    status: isFailing ? "failing" : health.status,
    failure_count: failures,
    streak_since: since,
    failing_since: isFailing ? (health.failing_since ?? since) : health.failing_since,
    last_failure_at: at,
  };
};

/** Reasons for which the service itself disables an endpoint. */
export const disabledReasons = { gone: "gone", failing: "failing for 14 days" } as const;

/** What an endpoint's owner is mailed about: the change to failing, a week of it, and that the service disabled it. */
export type WebhookNotice = "failing" | "week" | "disabled";

/** What of an endpoint decides what is done about a failure that goes on. */
export type WebhookFailure = Pick<WebhookHealth, "status" | "failing_since"> & {
  disabled_reason: string | null;
  /** The last notice about this failure. */
  notified: WebhookNotice | null;
};

/** Source: docs/reference/webhooks.md#disabling. */
const failingFor = { weekMs: 7 * dayMs, tooLongMs: 14 * dayMs };

/** When an endpoint that goes on failing is disabled. */
export const disabledAt = ({ failing_since: since }: Pick<WebhookHealth, "failing_since">): Date | null =>
  since === null ? null : new Date(since.getTime() + failingFor.tooLongMs);

/** Whether it has been failing for too long. */
export const isToDisable = (row: WebhookFailure, now: Date): boolean => {
  const at = disabledAt(row);
  return row.status === "failing" && at !== null && at <= now;
};

/** The notice that the owner has not had yet; null when none is due. A later notice replaces those before it. */
export const noticeDue = (row: WebhookFailure, now: Date): WebhookNotice | null => {
  const wanted = noticeOf(row, now);
  return wanted === row.notified || (wanted === "failing" && row.notified !== null) ? null : wanted;
};

const noticeOf = ({ status, failing_since, disabled_reason }: WebhookFailure, now: Date): WebhookNotice | null => {
  const isOurs = Object.values<string | null>(disabledReasons).includes(disabled_reason);
  if (status === "disabled") return isOurs ? "disabled" : null;
  if (status !== "failing" || failing_since === null) return null;
  return now.getTime() - failing_since.getTime() >= failingFor.weekMs ? "week" : "failing";
};
