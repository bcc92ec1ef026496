import { expect } from "chai";
import { emptyInbox } from "#core/domain/inbox/revisions.ts";
import type { Inbox } from "#core/storage/inbox/inboxes.ts";
import type { InboxItemRow } from "#core/storage/inbox/items.ts";
import { type Watcher, watchedPeople } from "../../../../../apiserver/inbox/streams/people.ts";

const now = new Date("2026-11-20T10:00:00Z");
const inbox: Inbox = {
  ...emptyInbox(),
  revision: 1,
  entries: [{ id: "inb_1", message_id: "msg_1", at: now, expires_at: new Date("2026-12-20T10:00:00Z"), revision: 1 }],
};
const damaged = { _id: "inb_1", user_id: "usr_1" } as InboxItemRow; // it lacks what an item must have

describe("people whose inboxes are watched", () => {
  it("lets go of the reader of an item that was damaged, and goes on", async () => {
    const errors: unknown[] = [];
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    const people = watchedPeople({
      inboxes: {
        readMany: async () => new Map([["usr_1", inbox]]),
        bodies: { read: async () => [damaged] },
      } as unknown as Parameters<typeof watchedPeople>[0]["inboxes"], // the two that are read
      listen: () => () => undefined,
      onError: (error) => void errors.push(error),
      clock: { now: () => now },
    });
    const watcher: Watcher = {
      reader: {
        texts: { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) },
        close,
        isReady: () => true,
        put: () => expect.fail("there is nothing to tell"),
        end: () => expect.fail("it breaks off"),
      },
      userId: "usr_1",
      from: null,
      revision: 0,
      isGreeted: true,
      isBehind: true,
      isMoved: false,
    };
    people.watch(watcher);
    people.refresh("usr_1");
    await closed;
    expect(errors).to.have.lengthOf(1);
    expect(String(errors[0])).to.contain("is missing");
  });
});
