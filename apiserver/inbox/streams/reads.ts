import type { Clock } from "#core/domain/clock.ts";
import { emptyInbox, type InboxChanges } from "#core/domain/inbox/revisions.ts";
import type { Inbox, Inboxes } from "#core/storage/inbox/inboxes.ts";
import type { InboxItemRow } from "#core/storage/inbox/items.ts";
import { changesFor } from "./text.ts";

/** The revision up to which a reader knows an inbox; null: it knows nothing. */
export type Since = number | null;

/** An inbox as it was read, and what changed in it since each revision that a reader has. */
export type InboxRead = {
  userId: string;
  inbox: Inbox;
  changes: ReadonlyMap<Since, InboxChanges | null>;
  /** What the items say. */
  rows: ReadonlyMap<string, InboxItemRow>;
  /** For when it holds. */
  now: Date;
};

export type InboxReadsDeps = {
  inboxes: Pick<Inboxes, "readMany" | "bodies">;
  /** What the readers of a person's inbox know. */
  sinceOf: (userId: string) => readonly Since[];
  clock: Clock;
};

/** Reads the inboxes of at most 500 people, and of their items those that their readers do not know. */
export const inboxReads =
  ({ inboxes, sinceOf, clock }: InboxReadsDeps) =>
  async (userIds: readonly string[]): Promise<InboxRead[]> => {
    const now = clock.now();
    const found = await inboxes.readMany(userIds, now);
    const all = userIds.map((userId) => {
      const inbox = found.get(userId) ?? emptyInbox();
      return {
        userId,
        inbox,
        changes: new Map(sinceOf(userId).map((since) => [since, changesFor(inbox, since, now)])),
      };
    });
    const ids = all.flatMap(({ changes }) =>
      [...changes.values()].flatMap((one) => one?.items.map(({ id }) => id) ?? []),
    );
    const rows = new Map<string, InboxItemRow>();
    for (let from = 0; from < ids.length; from += mostRows)
      for (const row of await inboxes.bodies.read(ids.slice(from, from + mostRows))) rows.set(row._id, row);
    return all.map((one) => ({ ...one, rows, now }));
  };

const mostRows = 1_000;
