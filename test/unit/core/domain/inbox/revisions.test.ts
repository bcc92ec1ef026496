import { expect } from "chai";
import {
  changesFrom,
  changesSince,
  emptyInbox,
  inboxFrom,
  mostDropped,
  numbered,
  type RevisedInbox,
  revised,
} from "#core/domain/inbox/revisions.ts";
import { changedEntries, type InboxEntry, statesOf, withEntry } from "#core/domain/inbox/states.ts";

const now = new Date("2026-11-27T12:00:00.000Z");

const entry = (n: number): InboxEntry => ({
  id: `itm_${n}`,
  message_id: `msg_${n}`,
  at: new Date(now.getTime() + n),
  expires_at: new Date(now.getTime() + 60_000),
});

/** What one command does for many people: it knows no revision. */
const arrived = (inbox: RevisedInbox, n: number): RevisedInbox => {
  const revision = inbox.revision + 1;
  return { ...inbox, ...statesOf([...inbox.entries, entry(n)], now), revision };
};
const stored = (inbox: RevisedInbox): RevisedInbox => ({ ...inbox, entries: numbered(inbox.entries, inbox.revision) });
const change = (inbox: RevisedInbox, id: string, state: "read" | "deleted"): RevisedInbox =>
  revised(stored(inbox), changedEntries(stored(inbox).entries, new Set([id]), { state }, now), now);

describe("what changed in an inbox since a revision", () => {
  const three = [1, 2, 3].reduce(arrived, emptyInbox());
  const later = arrived(change(three, "itm_2", "read"), 4); // 4, 5

  it("is found by the place of what arrived, and by what changes wrote down", () => {
    expect(stored(later).entries.map(({ id, revision }) => [id, revision])).to.deep.equal([
      ["itm_1", 1],
      ["itm_2", 4],
      ["itm_3", 3],
      ["itm_4", 5],
    ]);
    expect(changesSince(stored(later), 3, now)?.items.map(({ id }) => id)).to.deep.equal(["itm_2", "itm_4"]);
  });

  it("leaves out what a change left as it was", () => {
    const again = revised(stored(later), changedEntries(stored(later).entries, "all", { state: "seen" }, now), now);
    expect(changesSince(again, 5, now)?.items.map(({ id }) => id)).to.deep.equal(["itm_1", "itm_3", "itm_4"]);
  });

  it("names what was deleted or made room, as long as that is known", () => {
    const deleted = change(later, "itm_1", "deleted");
    expect(changesSince(deleted, 5, now)).to.deep.equal({ items: [], removed: ["itm_1"] });
    let inbox = deleted;
    for (let n = 5; n < 5 + mostDropped + 1; n++)
      inbox = revised(stored(inbox), withEntry(stored(inbox).entries, entry(n), { most: 3, now }), now);
    expect(inbox.dropped).to.have.length(mostDropped);
    const [oldest] = inbox.dropped;
    expect(changesSince(inbox, (oldest?.revision ?? 0) - 1, now)).to.equal(null);
    expect(changesSince(inbox, oldest?.revision ?? 0, now)?.removed).to.have.length(mostDropped - 1);
  });

  it("is told from an instant on without what came before, and counted so", () => {
    const deleted = stored(change(change(later, "itm_1", "deleted"), "itm_3", "deleted"));
    const changes = changesSince(deleted, 3, now) ?? expect.fail("it is known");
    expect(changes.removed).to.deep.equal(["itm_1", "itm_3"]);
    const from = entry(3).at;
    const { items, removed } = changesFrom(deleted, changes, from);
    expect([items.map(({ id }) => id), removed]).to.deep.equal([["itm_4"], ["itm_3"]]);
    const { unread, unseen, revision, entries } = inboxFrom(deleted, from, now);
    expect([unread, unseen, revision]).to.deep.equal([1, 1, deleted.revision]);
    expect(entries.map(({ id }) => id)).to.deep.equal(["itm_3", "itm_4"]);
  });

  it("is not known of a revision that is none of the inbox", () => {
    expect(changesSince(stored(later), 6, now)).to.equal(null);
    expect(changesSince(emptyInbox(), 0, now)).to.deep.equal({ items: [], removed: [] });
  });
});
