import type { Filter } from "mongodb";
import { dateOf } from "#core/domain/clock.ts";
import { filesOf, orderView } from "#core/domain/conversations/personal-data.ts";
import { defined } from "#core/domain/defined.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import { conversationMessagePages } from "#core/storage/exports/conversations.ts";
import type { ExportSource } from "./type.ts";

/** What became of a reply is in the deliveries of its `message_id`. */
export const conversationMessages: ExportSource<ConversationMessageRow> = {
  columns: [
    { name: "id", of: (row) => row._id },
    { name: "conversation_id", of: (row) => row.conversation_id },
    { name: "user_id", of: (row) => row.user_id },
    { name: "subscription_id", of: (row) => row.subscription_id },
    { name: "direction", of: (row) => row.direction },
    { name: "type", of: (row) => row.type },
    { name: "text", of: (row) => row.text },
    { name: "subject", of: (row) => row.subject },
    { name: "quoted_text", of: (row) => row.quoted_text },
    { name: "button", of: (row) => row.button },
    { name: "location", of: (row) => row.location },
    { name: "contacts", of: (row) => row.contacts },
    { name: "reaction", of: (row) => row.reaction && { emoji: row.reaction.emoji } },
    { name: "order", of: (row) => orderView(row.order) },
    { name: "template", of: (row) => row.template },
    { name: "template_id", of: (row) => row.template_id },
    { name: "interactive", of: (row) => row.interactive },
    { name: "media", of: (row) => row.media && filesOf(row.media) },
    { name: "reply_to_id", of: (row) => row.reply_to_id },
    { name: "message_id", of: (row) => row.message_id },
    { name: "author_type", of: (row) => row.author.type },
    { name: "author_id", of: (row) => row.author.id },
    { name: "provider", of: (row) => row.provider },
    { name: "sent_at", of: (row) => row.sent_at },
    { name: "created_at", of: (row) => row.created_at },
  ],
  pages: (db, of, { channel, from, to }) =>
    conversationMessagePages(db, of, {
      filter: defined({ channel }) as Filter<ConversationRow>, // sound: a member of it
      times: { from: dateOf(from), to: dateOf(to) },
    }),
};
