import { dayMs } from "../durations.ts";

/** What is later than this is more likely a mistake than a delay. Source: docs/reference/messages.md#scheduling. */
const oldest = dayMs;
const furthest = 365 * dayMs;

/** When a message is due by its `send_after`: null = now. No offset means UTC. */
export const dueAtOf = (sendAfter: string | undefined, now: Date): { at: Date | null } | { problem: string } => {
  if (sendAfter === undefined) return { at: null };
  const at = new Date(/(z|[+-]\d\d(:?\d\d)?)$/i.test(sendAfter) ? isoOffset(sendAfter) : `${sendAfter}Z`);
  const aheadMs = at.getTime() - now.getTime();
  if (Number.isNaN(aheadMs)) return { problem: "must be a date and time" };
  if (aheadMs < -oldest) return { problem: "must not be more than 24 hours in the past" };
  if (aheadMs > furthest) return { problem: "must not be more than 365 days ahead" };
  return { at: aheadMs > 0 ? at : null };
};

/** `+01` and `+0100` as `+01:00`, which is all that Date reads. */
const isoOffset = (text: string): string =>
  text.replace(/([+-]\d\d):?(\d\d)?$/, (_, hours, minutes) => `${hours}:${minutes ?? "00"}`);
