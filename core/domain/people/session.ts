import { dayMs, hourMs } from "../durations.ts";

/** What is sent in the last minute may arrive after the end. */
const marginMs = 60_000;

/** Until when a person may be sent anything on WhatsApp after a message of theirs. Source: docs/reference/whatsapp.md#sessions. */
export const sessionEnd = (wroteAt: Date): Date => new Date(wroteAt.getTime() + dayMs);

/** What an advertisement on WhatsApp led to: when its person wrote, and the end of the session that an answer opened. */
export type AdSession = { ad_clicked_at?: Date | null; ad_session_until?: Date | null };

const adSessionMs = 72 * hourMs; // Meta's free entry point

/**
 * Until when a person whom an advertisement led here may be sent anything, by the first answer within a day of their
 * message; null when what was sent is no such answer. Source: docs/reference/whatsapp.md#sessions.
 */
export const adSessionEnd = ({ ad_clicked_at: at, ad_session_until: until }: AdSession, sentAt: Date): Date | null => {
  if (at == null || sentAt < at || sentAt >= sessionEnd(at)) return null;
  const isAnswered = until != null && until.getTime() >= at.getTime() + adSessionMs;
  return isAnswered ? null : new Date(sentAt.getTime() + adSessionMs);
};

/** Whether a provider that refused a message at an instant for want of a session means the one that is known. */
export const isSessionRefused = (
  { session_expires_at: end, ad_session_until: until }: AdSession & { session_expires_at?: Date | null },
  at: Date,
): boolean => end != null && (end <= sessionEnd(at) || end.getTime() === until?.getTime());

export const isSessionOpen = (expiresAt: Date | null | undefined, now: Date): boolean =>
  expiresAt instanceof Date && now.getTime() < expiresAt.getTime() - marginMs;
