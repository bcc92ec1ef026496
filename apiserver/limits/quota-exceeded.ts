import { AppError } from "#core/errors.ts";

export type Exceeded = {
  metric: string;
  limit: number;
  used: number;
  /** What was asked for beyond `used`. */
  needed: number;
  /** When `used` begins anew; left out where only removing something helps. */
  resets?: { at: Date; now: Date };
};

/** A quota is passed: what it is, what was needed, and when it resets. Source: docs/reference/limits.md#quotas. */
export const quotaExceeded = (message: string, { metric, limit, used, needed, resets }: Exceeded): AppError =>
  new AppError("HS_QUOTA_EXCEEDED", message, {
    metric,
    limit,
    used,
    needed,
    resets_at: resets?.at.toISOString() ?? null,
    ...(resets !== undefined && { retry_after_seconds: secondsOf(resets) }),
  });

const secondsOf = ({ at, now }: { at: Date; now: Date }): number =>
  Math.max(1, Math.ceil((at.getTime() - now.getTime()) / 1000));
