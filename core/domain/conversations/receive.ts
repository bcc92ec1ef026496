import type { AppSettings } from "../../schema/apps/settings.ts";
import { hourMs } from "../durations.ts";
import { sessionEnd } from "../people/session.ts";
import type { ConversationState } from "./conversation.ts";

/** How conversations of an app begin and end. */
export type ConversationRules = AppSettings["conversations"];

/** What of a message of a person moves their conversation. */
export type Arrived = { at: Date; name: string | null; isFromAd: boolean };

/** Until when anything may be sent, as the subscription has it; null on a channel without sessions. */
export type KnownSession = { until: Date | null } | null;

/** Whether a message belongs to a conversation as it is, or opens another one. */
export const isCurrent = (
  { status, closed_at }: Pick<ConversationState, "status" | "closed_at">,
  { reopen, reopen_hours: hours }: Pick<ConversationRules, "reopen" | "reopen_hours">,
  now: Date,
): boolean => {
  if (status !== "closed" || reopen === "same") return true;
  return reopen === "within_hours" && closed_at !== null && now.getTime() < closed_at.getTime() + hours * hourMs;
};

/**
 * A conversation after messages of its person, in whichever order they came: it is open, they are unread, and somebody waits
 * for an answer. A session is never shortened, and no provider's clock is believed to be ahead.
 */
export const received = (
  before: ConversationState,
  messages: readonly Arrived[],
  { session, now }: { session: KnownSession; now: Date },
): ConversationState => {
  const instants = messages.map(({ at }) => (at < now ? at : now));
  const [first, last] = [earliest(instants), latest([...instants, before.last_inbound_at])];
  const named = messages.toSorted((a, b) => a.at.getTime() - b.at.getTime()).findLast(({ name }) => name !== null);
  return {
    ...before,
    status: "open",
    closed_at: null,
    snoozed_until: null,
    contact_name: named?.name ?? before.contact_name,
    unread_count: before.unread_count + messages.length,
    message_count: before.message_count + messages.length,
    waiting_since: before.waiting_since ?? first,
    last_inbound_at: last,
    ...(session !== null && sessionOf(before, messages, { instants, known: session.until })),
  };
};

const sessionOf = (
  before: ConversationState,
  messages: readonly Arrived[],
  { instants, known }: { instants: readonly Date[]; known: Date | null },
): Pick<ConversationState, "session_expires_at" | "session_origin"> => {
  const last = latest(instants);
  const until = latest([known, before.session_expires_at]);
  const end = latest([last === null ? null : sessionEnd(last), until]);
  const isFromAd = messages.some((message) => message.isFromAd);
  const isOver = until === null || (last !== null && until <= last);
  const origin = isOver ? "user_message" : (before.session_origin ?? "user_message");
  return { session_expires_at: end, session_origin: isFromAd ? "click_to_ad" : origin };
};

const latest = (instants: readonly (Date | null)[]): Date | null =>
  instants.reduce((a, b) => (a === null || (b !== null && b > a) ? b : a), null);

const earliest = (instants: readonly Date[]): Date | null =>
  instants.reduce<Date | null>((a, b) => (a === null || b < a ? b : a), null);
