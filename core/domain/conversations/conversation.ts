import type { ContactChannel } from "../../schema/vocabulary/channels.ts";

export type ConversationStatus = "open" | "pending" | "snoozed" | "closed";

/** The members of a conversation that messages and people's work move. */
export type ConversationState = {
  status: ConversationStatus;
  /** Who answers: a program or people. */
  handled_by: "bot" | "human";
  contact_name: string | null;
  assignee: { type: "account" | "team"; id: string; name: string | null } | null;
  priority: "low" | "normal" | "high" | "urgent";
  tags: string[];
  custom_attributes: Record<string, string | number | boolean>;
  /** Messages of the person since it was last read. */
  unread_count: number;
  message_count: number;
  /** The oldest message of the person that nobody has answered. */
  waiting_since: Date | null;
  snoozed_until: Date | null;
  first_response_at: Date | null;
  last_inbound_at: Date | null;
  last_outbound_at: Date | null;
  read_at: Date | null;
  closed_at: Date | null;
  /** On WhatsApp: until when anything may be sent, and what opened that time. */
  session_expires_at: Date | null;
  session_origin: "user_message" | "click_to_ad" | null;
};

/** Whom a conversation is with, over what: of mails in which thread. There is one at a time. */
export type ConversationPlace = {
  channel: ContactChannel;
  /** What of the app is written to: a phone number, an id of one, an RCS sender. */
  sender_address: string;
  contact_address: string;
  /** Of mails: the Message-ID of the first one of the thread. */
  thread_key?: string;
};

/** The text by which a conversation is found that is going on between the two. */
export const placeOf = ({ channel, sender_address, contact_address, thread_key: thread }: ConversationPlace): string =>
  `${channel} ${sender_address} ${contact_address}${thread === undefined ? "" : ` ${thread}`}`;

/** A conversation in which nothing was said. */
export const blankState: ConversationState = {
  status: "open",
  handled_by: "human",
  contact_name: null,
  assignee: null,
  priority: "normal",
  tags: [],
  custom_attributes: {},
  unread_count: 0,
  message_count: 0,
  waiting_since: null,
  snoozed_until: null,
  first_response_at: null,
  last_inbound_at: null,
  last_outbound_at: null,
  read_at: null,
  closed_at: null,
  session_expires_at: null,
  session_origin: null,
};
