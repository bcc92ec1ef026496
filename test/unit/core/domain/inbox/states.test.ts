import { expect } from "chai";
import { changedEntries, type InboxEntry, statesOf, withEntry } from "#core/domain/inbox/states.ts";

const now = new Date("2026-11-27T12:00:00Z");
const ago = (minutes: number): Date => new Date(now.getTime() - minutes * 60_000);
const entry = (id: string, change: Partial<InboxEntry> = {}): InboxEntry => ({
  id,
  message_id: `msg_${id}`,
  at: ago(10),
  expires_at: ago(-60),
  ...change,
});
const idsOf = ({ entries }: { entries: readonly InboxEntry[] }): string[] => entries.map(({ id }) => id);

describe("the states of an inbox", () => {
  it("count what is neither archived, deleted nor expired", () => {
    const states = statesOf(
      [
        entry("new"),
        entry("seen", { seen_at: now }),
        entry("read", { seen_at: now, read_at: now }),
        entry("archived", { archived_at: now }),
        entry("deleted", { deleted_at: now }),
        entry("expired", { expires_at: ago(1) }),
      ],
      now,
    );
    expect(states).to.include({ unread: 2, unseen: 1 });
    expect(states.next_expiry).to.deep.equal(ago(-60));
  });

  const evictions: { it: string; others: InboxEntry[]; left: string[] }[] = [
    {
      it: "what has expired first",
      others: [entry("old", { at: ago(99) }), entry("expired", { expires_at: now })],
      left: ["old", "new"],
    },
    {
      it: "then what was deleted",
      others: [entry("old", { at: ago(99) }), entry("gone", { deleted_at: now })],
      left: ["old", "new"],
    },
    {
      it: "then the oldest that is archived",
      others: [entry("old", { at: ago(99) }), entry("archived", { archived_at: now })],
      left: ["old", "new"],
    },
    { it: "then the oldest", others: [entry("young"), entry("old", { at: ago(99) })], left: ["young", "new"] },
  ];
  for (const { it: name, others, left } of evictions)
    it(`make room for a new item: ${name}`, () => {
      expect(idsOf(withEntry(others, entry("new", { at: now }), { most: 2, now }))).to.deep.equal(left);
    });

  it("have an item of a message once, and not again after it was deleted", () => {
    const deleted = changedEntries([entry("one")], new Set(["one"]), { state: "deleted" }, now);
    expect(deleted).to.include({ unread: 0, unseen: 0 });
    const again = withEntry(deleted.entries, entry("one"), { most: 10, now });
    expect(again.entries).to.deep.equal(deleted.entries);
  });

  const changes = [
    { change: { state: "seen" }, counts: { unread: 1, unseen: 0 } },
    { change: { state: "read" }, counts: { unread: 0, unseen: 0 } },
    { change: { state: "archived" }, counts: { unread: 0, unseen: 0 } },
    { change: { state: "snoozed", until: ago(-5) }, counts: { unread: 1, unseen: 0 } },
    { change: { state: "deleted" }, counts: { unread: 0, unseen: 0 } },
  ] as const;
  for (const { change, counts } of changes)
    it(`count an item that is ${change.state}`, () => {
      const states = changedEntries(
        [entry("one"), entry("other", { read_at: now, seen_at: now })],
        new Set(["one"]),
        change,
        now,
      );
      expect(states).to.include(counts);
      expect(changedEntries(states.entries, "all", change, ago(-1)).entries[0]).to.deep.equal(states.entries[0]);
    });

  it("have an item unread again, and back from the archive", () => {
    const read = entry("one", { seen_at: now, read_at: now, archived_at: now });
    const back = changedEntries([read], "all", { state: "unarchived" }, now);
    expect(back).to.include({ unread: 0, unseen: 0 });
    const unread = changedEntries(back.entries, "all", { state: "unread" }, now);
    expect(unread).to.include({ unread: 1, unseen: 0 });
    expect(unread.entries).to.deep.equal([entry("one", { seen_at: now })]);
  });
});
