import { dayMs, hourMs } from "../durations.ts";
import type { ConversationState } from "./conversation.ts";
import type { ConversationRules } from "./receive.ts";

/** What says when a conversation changes by itself. */
export type Timed = Pick<ConversationState, "status" | "snoozed_until"> & { updated_at: Date };

type Ending = Pick<ConversationRules, "auto_close_hours">;

/** What time makes of a conversation; null when nothing is due. */
export const dueChange = (
  { status, snoozed_until: until, updated_at }: Timed,
  { auto_close_hours: hours }: Ending,
  now: Date,
): Partial<ConversationState> | null => {
  if (status === "snoozed") return until !== null && until <= now ? { status: "open", snoozed_until: null } : null;
  if (status === "closed" || hours === 0 || updated_at.getTime() + hours * hourMs > now.getTime()) return null;
  return { status: "closed", closed_at: now };
};

/**
 * When a conversation is looked at next: once a day as long as it goes on, as its app's settings may be others by then; null
 * when it waits for its person alone, or is closed.
 */
export const nextLook = (
  { status, snoozed_until: until, updated_at }: Timed,
  { auto_close_hours: hours }: Ending,
  now: Date,
): Date | null => {
  if (status === "closed") return null;
  if (status === "snoozed") return until;
  const tomorrow = now.getTime() + dayMs;
  return new Date(hours === 0 ? tomorrow : Math.min(updated_at.getTime() + hours * hourMs, tomorrow));
};
