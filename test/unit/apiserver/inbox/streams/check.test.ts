import { expect } from "chai";
import { checkStreams } from "../../../../../apiserver/inbox/streams/check.ts";
import type { People, Watcher } from "../../../../../apiserver/inbox/streams/people.ts";
import type { Open } from "../../../../../apiserver/inbox/streams/streams.ts";

const reader: Open["reader"] = {
  texts: { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) },
  close: () => undefined,
  isReady: () => false,
  put: () => undefined,
  end: () => undefined,
};

const anOpen = (): Open => ({
  subscriptionId: "sub_1",
  secretHash: "abc",
  appId: "app_1",
  userId: "usr_before",
  untilMs: Number.POSITIVE_INFINITY,
  writtenMs: 0,
  endsMs: Number.POSITIVE_INFINITY,
  reader,
  revision: 0,
  isGreeted: true,
  isBehind: false,
  isMoved: false,
});

/** Checks a stream whose subscription is another user's by now; `meanwhile` happens as that is read. */
const checked = async (meanwhile: (streams: Set<Open>, one: Open) => void): Promise<ReadonlySet<Watcher>> => {
  const one = anOpen();
  const [streams, watched] = [new Set([one]), new Set<Watcher>([one])];
  const people: People = {
    watch: (watcher) => void watched.add(watcher),
    unwatch: (watcher) => void watched.delete(watcher),
    refresh: () => undefined,
    all: () => new Map(),
  };
  const check = checkStreams({
    streams,
    people,
    inboxes: { revisions: async () => new Map() },
    devices: {
      proofs: async () => {
        meanwhile(streams, one);
        if (!streams.has(one)) people.unwatch(one);
        return new Map([["sub_1", { secretHash: "abc", userId: "usr_after" }]]);
      },
    },
    directory: { app: async () => null, tenant: async () => null },
    end: () => undefined,
  });
  await check(new AbortController().signal);
  return watched;
};

describe("the check of open inbox streams", () => {
  it("shows a stream the inbox of whose it is by now", async () => {
    const [one] = await checked(() => undefined);
    expect(one?.userId).to.equal("usr_after");
  });

  it("watches nobody for a stream that closed while it was looked at", async () => {
    const watched = await checked((streams, one) => streams.delete(one));
    expect(watched.size).to.equal(0);
  });
});
