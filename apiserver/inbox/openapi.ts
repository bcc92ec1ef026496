import { exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import type { ChangeInbox, InboxChanged, InboxPage } from "#core/schema/inbox/device.ts";
import type { InboxItem } from "#core/schema/inbox/item.ts";
import type { InboxEvent } from "#core/schema/inbox/stream.ts";
import type { Docs } from "../http/feature.ts";

const item: InboxItem = {
  id: "itm_01JDKQ4WSM9Q2V6E3T8YB4ZC9N",
  message_id: refs.message_id,
  title: "Your order is on its way",
  body: "It arrives tomorrow.",
  image_url: null,
  url: "https://shop.example/orders/1",
  data: { order: "1" },
  actions: [],
  category: null,
  created_at: exampleTime,
  expires_at: "2026-12-21T00:00:00.123Z",
  seen_at: exampleTime,
  read_at: null,
  archived_at: null,
  snoozed_until: null,
};

const counters = { unread_count: 1, unseen_count: 0, revision: 4 };
const event: InboxEvent = { user_id: refs.user_id, ...counters, items: [item], removed: [] };
const changes: ChangeInbox[] = [
  { ids: [item.id], state: "read" },
  { ids: "all", state: "seen" },
];

/** What the OpenAPI document says of inboxes beside their operations. */
export const docs: Docs = {
  tags: { Inbox: "What messages left for a person to read later, on their devices." },
  examples: {
    InboxItem: [item],
    InboxPage: [{ data: [item], next_cursor: null, has_more: false, ...counters }] satisfies InboxPage[],
    ChangeInbox: changes,
    InboxEvent: [event],
    InboxStream: [`id: ${event.revision}\nevent: inbox\ndata: ${JSON.stringify(event)}\n\n`],
    InboxChanged: [{ ...counters, missing: [] }] satisfies InboxChanged[],
  },
  queryExamples: { state: "current" },
};
