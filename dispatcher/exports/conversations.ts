import type { Filter } from "mongodb";
import { dateOf } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { conversationPages } from "#core/storage/exports/conversations.ts";
import type { ExportSource } from "./type.ts";

/** Addresses are shown, as they are over REST: who answers needs them. */
export const conversations: ExportSource<ConversationRow> = {
  columns: [
    { name: "id", of: (row) => row._id },
    { name: "channel", of: (row) => row.channel },
    { name: "sender_address", of: (row) => row.sender_address },
    { name: "contact_address", of: (row) => row.contact_address },
    { name: "contact_name", of: (row) => row.contact_name },
    { name: "user_id", of: (row) => row.user_id },
    { name: "external_id", of: (row) => row.external_id },
    { name: "subscription_id", of: (row) => row.subscription_id },
    { name: "status", of: (row) => row.status },
    { name: "handled_by", of: (row) => row.handled_by },
    { name: "assignee_type", of: (row) => row.assignee?.type },
    { name: "assignee_id", of: (row) => row.assignee?.id },
    { name: "priority", of: (row) => row.priority },
    { name: "tags", of: (row) => row.tags },
    { name: "custom_attributes", of: (row) => row.custom_attributes },
    { name: "unread_count", of: (row) => row.unread_count },
    { name: "message_count", of: (row) => row.message_count },
    { name: "waiting_since", of: (row) => row.waiting_since },
    { name: "snoozed_until", of: (row) => row.snoozed_until },
    { name: "first_response_at", of: (row) => row.first_response_at },
    { name: "last_inbound_at", of: (row) => row.last_inbound_at },
    { name: "last_outbound_at", of: (row) => row.last_outbound_at },
    { name: "closed_at", of: (row) => row.closed_at },
    { name: "created_at", of: (row) => row.created_at },
    { name: "updated_at", of: (row) => row.updated_at },
  ],
  pages: (db, of, { channel, status, from, to }) =>
    conversationPages(db, of, {
      filter: defined({ channel, status }) as Filter<ConversationRow>, // sound: the request's status was checked
      times: { from: dateOf(from), to: dateOf(to) },
    }),
};
