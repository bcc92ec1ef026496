import type { WebhookHealth } from "#core/domain/webhooks/health.ts";
import type { AttemptRow } from "#core/storage/webhooks/deliveries.ts";

/** How far an endpoint is trusted to answer, by its last requests. */
export type Trust = {
  /** Takes note of a request that has ended. */
  note: (made: Pick<AttemptRow, "error_class">) => void;
  /** Whether at least half of its last 20 requests succeeded, and the last one to end did not time out. */
  isTrusted: () => boolean;
  /** Requests under way at once to one that may have `most` when it is trusted. */
  mostUnderWay: (most: number) => number;
};

/** One failure among many says little of an endpoint. */
const judgedRequests = 20;
/** To one that is not trusted: each request that hangs keeps a connection open and its body in memory. */
const untrustedUnderWay = 4;

/** Begins with what is known of an endpoint from before: one that failed last is tried with one request first. */
export const trust = ({ failure_count, last_success_at }: WebhookHealth): Trust => {
  const hasFailed = failure_count > 0;
  const successes = !hasFailed && last_success_at !== null ? [true] : [];
  let isHanging = hasFailed;
  const isTrusted = (): boolean => {
    const succeeded = successes.filter(Boolean).length;
    return !isHanging && succeeded > 0 && 2 * succeeded >= successes.length;
  };
  return {
    note: ({ error_class: errorClass }) => {
      successes.push(errorClass === null);
      if (successes.length > judgedRequests) successes.shift();
      isHanging = errorClass === "timeout" || errorClass === "connect_timeout";
    },
    isTrusted,
    mostUnderWay: (most) => {
      if (isHanging) return 1;
      return isTrusted() ? most : Math.min(most, untrustedUnderWay);
    },
  };
};
