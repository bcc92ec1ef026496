/** How an endpoint is doing. Source of the states: spec 3.3, decisions 10.3. */
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
