import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { InboxEntry } from "#core/domain/inbox/states.ts";
import { instantOf } from "#core/domain/iso-instant.ts";
import { invalid } from "#core/errors.ts";
import type { NoticeInboxes } from "#core/queue/inbox-notices.ts";
import {
  type ChangeInbox,
  type InboxChanged,
  type InboxPage,
  type InboxQuery,
  type InboxView,
  inboxPaging,
} from "#core/schema/inbox/device.ts";
import { InboxItem } from "#core/schema/inbox/item.ts";
import { patterns } from "#core/schema/json/patterns.ts";
import { showAs } from "#core/schema/json/show.ts";
import { inboxes } from "#core/storage/inbox/inboxes.ts";
import { type ShownInbox, type ShownItem, shownInboxes } from "#core/storage/inbox/shown.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { SortPosition } from "#core/storage/mongo/page-range.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { type Cursors, readPage } from "../http/pages.ts";
import type { InboxStreams } from "./streams/streams.ts";

export type InboxPlatform = {
  db: Db;
  clock: Clock;
  cursors: Cursors;
  nats: { noticeInboxes: NoticeInboxes };
  inboxStreams: Pick<InboxStreams, "open">;
};

/** What a cursor says: one of before releases has no index. */
type PagePlace = SortPosition & { index?: number };

/** Who reads: the person of a device; `from`: what came before is not there for this device. */
type Reader = { own: SubscriptionRow; from: Date | null };

/** What devices do with their person's inbox. Source: docs/reference/inbox.md#devices. */
export const inboxUseCases = ({ db, clock, cursors, nats, inboxStreams }: InboxPlatform) => {
  const [shown, { change }] = [shownInboxes(db), inboxes(db)];
  return {
    page: async ({ own, from }: Reader, query: InboxQuery): Promise<InboxPage> => {
      const now = clock.now();
      const counted = { unread_count: 0, unseen_count: 0, revision: 0 };
      let placeOf: ShownInbox["placeOf"];
      const page = await readPage<ShownItem, InboxItem, PagePlace>({
        cursors,
        paging: inboxPaging,
        list: `inbox/${own.user_id}`,
        query,
        read: async ({ after, limit }) => {
          const place = after === null ? null : { ...after, at: new Date(after.value) };
          const among = viewOf(query.state ?? "current", now);
          const inbox = await shown(ofRow(own), own.user_id, { now, after: place, limit, from, among });
          Object.assign(counted, countsOf(inbox));
          placeOf = inbox.placeOf;
          return inbox.items;
        },
        positionOf: (item) => {
          const { at: value, ...place } = placeOf(item);
          return { value, ...place };
        },
        view: (item) => showAs(InboxItem, item),
      });
      return { ...page, ...counted };
    },

    change: async ({ own, from }: Reader, { ids, state, until }: ChangeInbox): Promise<InboxChanged> => {
      const now = clock.now();
      const asked = state === "snoozed" ? { state, until: backAt(until, now) } : { state };
      if (state !== "snoozed" && until !== undefined) throw invalid("until", "is only of the state snoozed");
      const inbox = await change({ userId: own.user_id, ids, now, from, ...asked });
      nats.noticeInboxes([own.user_id]);
      const known = new Set(inbox?.entries.map(({ id }) => id));
      const missing = ids === "all" ? [] : ids.filter((id) => !known.has(id));
      return { ...countsOf(inbox ?? { unread: 0, unseen: 0, revision: 0 }), missing };
    },

    /** Lasts until its identity token ends, where it was asked for with one. @throws ValidationError, RateLimited, Unavailable */
    stream: (
      { own: { _id, install, app_id: appId, user_id: userId }, from }: Reader,
      {
        lastEventId,
        untilMs = Number.POSITIVE_INFINITY,
      }: { lastEventId: string | undefined; untilMs: number | undefined },
    ) => {
      if (lastEventId !== undefined && !isRevision.test(lastEventId))
        throw invalid("header.Last-Event-ID", "must be the id of an event of this stream");
      const owner = { subscriptionId: _id, secretHash: install?.secret_hash ?? "", appId, userId, from, untilMs };
      return inboxStreams.open(owner, lastEventId === undefined ? null : Number(lastEventId));
    },
  };
};

const countsOf = ({ unread, unseen, revision }: { unread: number; unseen: number; revision: number }) => ({
  unread_count: unread,
  unseen_count: unseen,
  revision,
});

const isRevision = new RegExp(patterns.revision);

const longestMs = 365 * 86_400_000; // items are kept as long

/** When a snoozed item comes back. @throws ValidationError */
const backAt = (until: string | undefined, now: Date): Date => {
  if (until === undefined) throw invalid("until", "is required with the state snoozed");
  const at = instantOf(until);
  if (at <= now || at.getTime() > now.getTime() + longestMs) throw invalid("until", "must be within the next 365 days");
  return at;
};

type ItemState = Omit<InboxEntry, "id">;

/** Which items a view has. */
const viewOf = (view: InboxView, now: Date): ((entry: ItemState) => boolean) => {
  const isSnoozed = ({ snoozed_until: until }: ItemState) => until !== undefined && until > now;
  const isCurrent = (entry: ItemState) => entry.archived_at === undefined && !isSnoozed(entry);
  const views: Record<InboxView, (entry: ItemState) => boolean> = {
    all: () => true,
    current: isCurrent,
    unread: (entry) => isCurrent(entry) && entry.read_at === undefined,
    unseen: (entry) => isCurrent(entry) && entry.seen_at === undefined,
    archived: (entry) => entry.archived_at !== undefined,
    snoozed: isSnoozed,
  };
  return views[view];
};
