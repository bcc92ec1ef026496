import { dateOf } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import { messageView } from "#core/domain/messages/views.ts";
import { type Message, type MessageListQuery, messagePaging } from "#core/schema/messages/message.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageFilter, Messages } from "#core/storage/messages/messages.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";

/** One page of an app's messages. Source: docs/reference/messages.md#message-list. */
export const listMessages =
  ({ messages, cursors }: { messages: Pick<Messages, "list">; cursors: Cursors }) =>
  (app: AppRow, query: MessageListQuery, signal: AbortSignal): Promise<Page<Message>> => {
    const filter = filterOf(query);
    return readPage({
      cursors,
      paging: messagePaging,
      list: `messages/${app._id}`,
      query,
      read: async (page) =>
        filter === null
          ? { rows: [], isWhole: true }
          : messages.list({ tenantId: app.tenant_id, appId: app._id, filter }, page, signal),
      positionOf: (row) => row._id,
      view: messageView,
    });
  };

/** Null when no message can match: `kind` is another name of `source`. */
const filterOf = (query: MessageListQuery): MessageFilter | null => {
  const { source, kind, status, label, category, from, to } = query;
  const { idempotency_key: idempotencyKey, template_id: templateId } = query;
  if (source !== undefined && kind !== undefined && source !== kind) return null;
  const times = { from: dateOf(from), to: dateOf(to) };
  const { campaign_id: campaignId } = query;
  return defined({ source: source ?? kind, status, label, category, templateId, campaignId, idempotencyKey, ...times });
};
