import type { MessageRow } from "#core/storage/messages/message-row.ts";

export type BeginningDeps = {
  /** Notes that nothing of the message was handed to a provider. */
  wait: (message: MessageRow) => Promise<boolean>;
  /** Takes that note away; false when the message was cancelled, or another has it. */
  begin: (message: MessageRow) => Promise<boolean>;
};

/** The turn of a small message until the first recipient is handed to a provider. */
export type Beginning = {
  /** To be awaited before a recipient is handed over; false when none may be any more. */
  begin: () => Promise<boolean>;
  /** Whether nothing of the message was handed over, in this turn and before. */
  isUntouched: () => boolean;
  /** Ends the waiting for the first. */
  stop: () => void;
};

const notedAfterMs = 1_000; // a message that begins sooner, as nearly all do, costs no write

/**
 * Lets a small message be cancelled while it waits: for the pace of its account, for a place, for its organisation. What
 * waits for longer than a second is noted as such, and who hands over the first recipient takes the note away in a write
 * that a cancellation and it cannot both make. Source: docs/reference/messages.md#cancelling.
 */
export const beginning = (deps: BeginningDeps, message: MessageRow): Beginning => {
  if (!mayBeUntouched(message)) return { begin: async () => true, isUntouched: () => false, stop: () => undefined };
  let noted: Promise<boolean> | null = message.waits === true ? Promise.resolve(true) : null;
  let begun: Promise<boolean> | null = null;
  const timer = setTimeout(() => {
    noted ??= deps.wait(message).catch(() => false);
  }, notedAfterMs);
  const beginNow = async (): Promise<boolean> => {
    clearTimeout(timer);
    if (noted === null) return true;
    return (await noted) && deps.begin(message);
  };
  return { begin: () => (begun ??= beginNow()), isUntouched: () => begun === null, stop: () => clearTimeout(timer) };
};

/** Nobody had it before, or only to wait. Changes of live activities are not cancelled. */
export const mayBeUntouched = ({ fence, planned, waits, live_activity: activity }: MessageRow): boolean =>
  activity === undefined && !planned && (fence === 1 || waits === true);
