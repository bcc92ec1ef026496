import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { idPattern, patterns, worded } from "../json/patterns.ts";
import { InboxItem } from "./item.ts";

const { Array: List, Enum, Integer, Literal, Object: Members, Optional, String: Text } = Type;

/** Which items of an inbox a page has. */
export const inboxViews = ["current", "unread", "unseen", "archived", "snoozed", "all"] as const;
export type InboxView = (typeof inboxViews)[number];

/** What a person does to items. */
export const inboxStates = ["seen", "read", "unread", "archived", "unarchived", "deleted", "snoozed"] as const;

export const inboxPaging = pagingOf({ standard: 20, most: 100, sort: "-created_at" });

/** Query of `GET /sdk/v1/inbox`. */
export const InboxQuery = Members({
  ...inboxPaging.pageQuery,
  state: Optional(
    Enum([...inboxViews], {
      description: "default current: neither archived nor snoozed; unread and unseen are of these",
    }),
  ),
});
export type InboxQuery = Static<typeof InboxQuery>;

export const inboxCounters = {
  unread_count: Integer({ minimum: 0, description: "items that are neither archived nor read" }),
  unseen_count: Integer({ minimum: 0, description: "items that are neither archived nor seen" }),
  revision: Integer({ minimum: 0, description: "grows with each change of the inbox" }),
};

/** A page of a person's inbox, the newest first. Source: docs/reference/inbox.md#devices. */
export const InboxPage = Members({ ...PageOf(InboxItem).properties, ...inboxCounters });
export type InboxPage = Static<typeof InboxPage>;

const ItemId = Text({
  pattern: worded(idPattern("inboxItem"), "must be the id of an item: itm_ and 26 digits and capital letters"),
});

/** Body of `POST /sdk/v1/inbox/state`. */
export const ChangeInbox = Closed({
  ids: Type.Union([List(ItemId, { minItems: 1, maxItems: 100 }), Literal("all")]),
  state: Enum([...inboxStates]),
  until: Optional(
    Text({
      format: "iso-date-time",
      pattern: patterns.dateTime,
      maxLength: 64,
      description: "of snoozed: when it comes back, within 365 days",
    }),
  ),
});
export type ChangeInbox = Static<typeof ChangeInbox>;

/** An inbox after a change. */
export const InboxChanged = Members({
  ...inboxCounters,
  missing: List(Text(), { description: "ids of the request that are no items of this inbox" }),
});
export type InboxChanged = Static<typeof InboxChanged>;

named({ InboxPage, ChangeInbox, InboxChanged });
