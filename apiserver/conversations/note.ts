import type { Clock } from "#core/domain/clock.ts";
import type { CreateConversationNote } from "#core/schema/conversations/message.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { NoteRow, Notes } from "#core/storage/conversations/notes.ts";
import type { Caller } from "../access/caller.ts";

export type NoteDeps = { notes: Pick<Notes, "add">; clock: Clock };

export type NewNote = {
  caller: Caller;
  conversation: ConversationRow;
  body: CreateConversationNote;
  /** Of the note: the same for each attempt at a request. */
  id: string;
};

/** Notes something in a conversation, for whoever answers. Its person is not told, and the conversation stays as it is. */
export const addNote =
  ({ notes, clock }: NoteDeps) =>
  async ({ caller, conversation, body, id }: NewNote): Promise<NoteRow> => {
    const { _id, tenant_id, app_id, subscription_id, user_id } = conversation;
    const row: NoteRow = {
      _id: id,
      tenant_id,
      app_id,
      conversation_id: _id,
      subscription_id,
      user_id,
      position: id.slice(id.indexOf("_") + 1),
      text: body.text,
      mentions: body.mentions ?? [],
      author: { type: "api_key", id: caller.key._id },
      created_at: clock.now(),
    };
    await notes.add(row);
    return row;
  };
