import { dayMs } from "../durations.ts";

/** What is sent in the last minute may arrive after the end. */
const marginMs = 60_000;

/** Until when a person may be sent anything on WhatsApp after a message of theirs. Source: docs/reference/whatsapp.md#sessions. */
export const sessionEnd = (wroteAt: Date): Date => new Date(wroteAt.getTime() + dayMs);

export const isSessionOpen = (expiresAt: Date | null | undefined, now: Date): boolean =>
  expiresAt instanceof Date && now.getTime() < expiresAt.getTime() - marginMs;
