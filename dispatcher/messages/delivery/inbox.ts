import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { inboxBody } from "#core/domain/inbox/item.ts";
import type { NoticeInboxes } from "#core/queue/inbox-notices.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { Content } from "#core/schema/messages/notification.ts";
import { type Inboxes, inboxItemId } from "#core/storage/inbox/inboxes.ts";
import type { InboxItemRow } from "#core/storage/inbox/items.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { Work } from "./work.ts";

export type InboxWriterDeps = { add: Inboxes["add"]; noticeInboxes: NoticeInboxes; clock: Clock };

/** Keeps what a recipient is about to be sent in the inbox of their person; done when it is stored. */
export type WriteItem = (to: Pick<Reached, "user_id" | "language">, said: Content) => Promise<void>;

/**
 * What puts a message into the inboxes of those whom a run sends it to; null where it does not ask for that. Somebody with
 * several devices has it once. It is written before the send: who opens the message finds it.
 * Source: docs/reference/inbox.md.
 */
export const inboxWriter =
  ({ add, noticeInboxes, clock }: InboxWriterDeps) =>
  ({ message, chunk, app }: Work): WriteItem | null => {
    const { add_to_inbox: isAsked, inbox_ttl: ttlSeconds } = message.options;
    if (isAsked !== true || chunk.resend_until !== undefined) return null; // sent again: it is there, or was deleted
    const { ttl_days: ttlDays, max_items: most } = settingsOf(app).inbox;
    const ttlMs = ttlSeconds === undefined ? ttlDays * dayMs : ttlSeconds * 1_000;
    const write = gather<InboxItemRow, null>({
      write: async (items) => {
        await add(ofRow(chunk), { messageId: message._id, items, most, now: clock.now() });
        noticeInboxes(items.map(({ user_id: userId }) => userId));
        return items.map(() => null);
      },
      most: batchSize,
      inFlight: writers,
    });
    const written = new Map<string, Promise<null>>(); // one for each person of a chunk
    return async ({ user_id: userId, language }, said) => {
      const now = clock.now();
      const item = (): InboxItemRow => ({
        ...inboxBody(said, language),
        _id: inboxItemId(message._id, userId),
        tenant_id: message.tenant_id,
        app_id: message.app_id,
        user_id: userId,
        message_id: message._id,
        category: message.category,
        created_at: now,
        expires_at: new Date(now.getTime() + ttlMs),
      });
      const writing = written.get(userId) ?? write(item());
      written.set(userId, writing);
      await writing;
    };
  };

const batchSize = 100;
const writers = 2; // while one batch is stored the next is gathered
