/** The state of one item of a person's inbox. Its `message_id` is unique among them. */
export type InboxEntry = {
  id: string;
  message_id: string;
  at: Date;
  expires_at: Date;
  seen_at?: Date;
  read_at?: Date;
  archived_at?: Date;
  snoozed_until?: Date;
  /** It is shown no more, and stays known so that a repeat of its message does not bring it back. */
  deleted_at?: Date;
  /** The inbox's with which it changed last; the latest arrivals have none yet. */
  revision?: number;
};

/** The states of a person's items, and what is counted of them until `next_expiry`: then an item that counts may expire. */
export type InboxStates = { entries: InboxEntry[]; unread: number; unseen: number; next_expiry: Date };

/** What somebody does to an item. Source: docs/reference/inbox.md#states. */
export type InboxChange =
  | { state: "seen" | "read" | "unread" | "archived" | "unarchived" | "deleted" }
  | { state: "snoozed"; until: Date };

/** The states with one more item. Where there are `most` the expired go first, then the deleted, the archived, and the oldest. */
export const withEntry = (
  entries: readonly InboxEntry[],
  entry: InboxEntry,
  { most, now }: { most: number; now: Date },
): InboxStates => {
  if (entries.some(({ message_id: id }) => id === entry.message_id)) return statesOf(entries, now);
  const live = entries.filter((one) => one.expires_at > now);
  const excess = Math.max(0, live.length + 1 - most);
  const gone = new Set(live.toSorted(byWorth).slice(0, excess));
  return statesOf([...live.filter((one) => !gone.has(one)), entry], now);
};

const byWorth = (a: InboxEntry, b: InboxEntry): number => worth(a) - worth(b) || a.at.getTime() - b.at.getTime();

const worth = ({ deleted_at: deletedAt, archived_at: archivedAt }: InboxEntry): number => {
  if (deletedAt !== undefined) return 0;
  return archivedAt === undefined ? 2 : 1;
};

/** The states once some of the items (`all`: each) are changed. What is so already stays as it is. */
export const changedEntries = (
  entries: readonly InboxEntry[],
  ids: ReadonlySet<string> | "all",
  change: InboxChange,
  now: Date,
): InboxStates => {
  const isMeant = ({ id, deleted_at: deletedAt }: InboxEntry): boolean =>
    deletedAt === undefined && (ids === "all" || ids.has(id));
  return statesOf(
    entries.filter((one) => one.expires_at > now).map((one) => (isMeant(one) ? changed(one, change, now) : one)),
    now,
  );
};

const changed = (entry: InboxEntry, change: InboxChange, now: Date): InboxEntry => {
  const { read_at: _read, archived_at: _archived, ...rest } = entry;
  const seen = { seen_at: entry.seen_at ?? now };
  switch (change.state) {
    case "seen":
      return { ...entry, ...seen };
    case "read":
      return { ...entry, ...seen, read_at: entry.read_at ?? now };
    case "unread":
      return { ...rest, ...(entry.archived_at && { archived_at: entry.archived_at }) };
    case "archived":
      return { ...entry, ...seen, archived_at: entry.archived_at ?? now };
    case "unarchived":
      return { ...rest, ...(entry.read_at && { read_at: entry.read_at }) };
    case "snoozed":
      return { ...entry, ...seen, snoozed_until: change.until };
    case "deleted":
      return { ...entry, deleted_at: now };
  }
};

/** States with what is counted of them at an instant: an archived or deleted item does not count, nor does one that expired. */
export const statesOf = <Entry extends Omit<InboxEntry, "id">>(
  entries: readonly Entry[],
  now: Date,
): Omit<InboxStates, "entries"> & { entries: Entry[] } => {
  const counted = entries.filter((one) => isShown(one, now) && one.archived_at === undefined);
  const expiries = counted.map(({ expires_at: at }) => at.getTime());
  return {
    entries: [...entries],
    unread: counted.filter(({ read_at: at }) => at === undefined).length,
    unseen: counted.filter(({ seen_at: at }) => at === undefined).length,
    next_expiry: new Date(Math.min(farAheadMs, ...expiries)),
  };
};

const farAheadMs = Date.parse("9999-12-31T23:59:59Z");

/** Whether an item is there for the person. */
export const isShown = (
  { deleted_at: deletedAt, expires_at: expiresAt }: Pick<InboxEntry, "deleted_at" | "expires_at">,
  now: Date,
): boolean => deletedAt === undefined && expiresAt > now;
