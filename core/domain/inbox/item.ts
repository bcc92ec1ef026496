import type { InboxItem } from "../../schema/inbox/item.ts";
import type { Content } from "../../schema/messages/notification.ts";
import { localised } from "../messages/languages.ts";
import { saidIn } from "../messages/neutral.ts";

/** What an item says. */
export type InboxBody = Pick<InboxItem, "title" | "body" | "image_url" | "url" | "data" | "actions">;

/** Whether a content has what an inbox shows. */
export const hasInboxText = (content: Content): boolean => {
  const { title, body } = inboxBody(content, null);
  return title !== null || body !== null;
};

/** What a message says in an inbox, in a language. Source: docs/reference/inbox.md#items. */
export const inboxBody = (given: Content, language: string | null): InboxBody => {
  const content = saidIn(given);
  return {
    title: localised(content.headings, language) || null,
    body: localised(content.contents, language) || null,
    image_url: content.big_picture ?? null,
    url: content.url ?? content.app_url ?? null,
    data: content.data ?? {},
    actions: (content.buttons ?? []).map(({ id, text, url = null }) => ({ id, text, url })),
  };
};
