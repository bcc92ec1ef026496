import { type Static, Type } from "typebox";
import { named } from "../json/named.ts";
import { inboxCounters } from "./device.ts";
import { InboxItem } from "./item.ts";

const { Array: List, Object: Members, String: Text } = Type;

/** What `GET /sdk/v1/inbox/stream` answers. */
export const InboxStream = Text({
  description:
    "server-sent events: `inbox` says what changed, `reset` that the inbox is to be read anew; the data of both is an " +
    "InboxEvent on one line, and the id its revision",
});

/** The data of an event of the stream of an inbox. Source: docs/reference/inbox.md#stream. */
export const InboxEvent = Members({
  user_id: Text({ description: "whose inbox it is" }),
  ...inboxCounters,
  items: List(InboxItem, { description: "items that are new or changed, as they are now" }),
  removed: List(Text(), { description: "ids of items that are there no more" }),
});
export type InboxEvent = Static<typeof InboxEvent>;

named({ InboxEvent, InboxStream });
