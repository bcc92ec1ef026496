import { dayMs } from "../durations.ts";
import { instantOf } from "../iso-instant.ts";

/** What is later than this is more likely a mistake than a delay. Source: docs/reference/messages.md#scheduling. */
export const sendAfterDays = { back: 1, ahead: 365 } as const;

/** When a message is due by its `send_after`: null = now. */
export const dueAtOf = (sendAfter: string | undefined, now: Date): { at: Date | null } | { problem: string } => {
  if (sendAfter === undefined) return { at: null };
  const at = instantOf(sendAfter);
  const aheadMs = at.getTime() - now.getTime();
  if (Number.isNaN(aheadMs)) return { problem: "must be a date and time" };
  if (aheadMs < -sendAfterDays.back * dayMs) return { problem: "must not be more than 24 hours in the past" };
  if (aheadMs > sendAfterDays.ahead * dayMs) return { problem: "must not be more than 365 days ahead" };
  return { at: aheadMs > 0 ? at : null };
};
