import { changesSince, type InboxChanges } from "#core/domain/inbox/revisions.ts";
import { InboxItem } from "#core/schema/inbox/item.ts";
import type { InboxEvent } from "#core/schema/inbox/stream.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { Inbox } from "#core/storage/inbox/inboxes.ts";
import type { InboxItemRow } from "#core/storage/inbox/items.ts";
import { itemOf } from "#core/storage/inbox/shown.ts";

/** Keeps a connection from being taken for dead; who reads it takes nothing from it. */
export const heartbeat = ":\n\n";

/** Has a reader come back after a while of its own, so that many do not come at once. */
export const retryText = (ms: number): string => `retry: ${Math.round(ms)}\n\n`;

/** What a reader is told who knows an inbox up to a revision; null stands for none: they are told what is counted. */
export const changesFor = (inbox: Inbox, since: number | null, now: Date): InboxChanges | null =>
  since === null ? { items: [], removed: [] } : changesSince(inbox, since, now);

/** An event of the stream; without `changes` the inbox is to be read anew. Source: docs/reference/inbox.md#stream. */
export const eventText = (
  { userId, inbox }: { userId: string; inbox: Inbox },
  changes: InboxChanges | null,
  rows: ReadonlyMap<string, InboxItemRow>,
): string => {
  const items = (changes?.items ?? []).flatMap((entry) => {
    const row = rows.get(entry.id);
    return row === undefined ? [] : [showAs(InboxItem, itemOf(entry, row))];
  });
  const data: InboxEvent = {
    user_id: userId,
    unread_count: inbox.unread,
    unseen_count: inbox.unseen,
    revision: inbox.revision,
    items,
    removed: changes?.removed ?? [],
  };
  const name = changes === null ? "reset" : "inbox";
  return `id: ${inbox.revision}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
};
