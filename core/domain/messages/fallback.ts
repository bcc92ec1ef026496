import type { FallbackCondition, FallbackStep } from "../../schema/messages/fallback.ts";
import { isOfAddress } from "./address-reasons.ts";
import { type Progress, reportedOf } from "./progress.ts";

/** What decides whether a delivery did not reach its person. */
export type Missed = Progress & { suppression_reason?: string };

/** The channels over which a message goes to whom it did not reach before, in order; none where it has no `fallback`. */
export const fallbackOf = ({ fallback = [] }: { fallback?: readonly FallbackStep[] }): readonly FallbackStep[] =>
  fallback;

/**
 * Whether a delivery did not reach its person as a step asks. One that was left out on purpose, because of its person or its
 * message, did what it was to do; whoever complained or unsubscribed gets nothing more.
 * Source: docs/reference/fallback.md#conditions.
 */
export const isMissed = (delivery: Missed, condition: FallbackCondition): boolean => {
  const { status, suppression_reason: reason = "" } = delivery;
  if (status === "complained" || status === "unsubscribed" || status === "cancelled") return false;
  if (status === "suppressed") return isOfAddress(reason);
  return condition === "failed" ? refused.has(status) : !reportedOf(delivery).includes(evidenceAgainst[condition]);
};

const refused: ReadonlySet<string> = new Set(["failed", "errored", "expired", "bounced"]);

const evidenceAgainst = { not_delivered: "delivered", not_opened: "opened", not_clicked: "clicked" } as const;
