import { expect } from "chai";
import type { Proof } from "#core/storage/people/devices.ts";
import { checkStreams } from "../../../../../apiserver/inbox/streams/check.ts";
import type { People, Watcher } from "../../../../../apiserver/inbox/streams/people.ts";
import type { Open } from "../../../../../apiserver/inbox/streams/stream.ts";

const reader: Open["reader"] = {
  texts: { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) },
  close: () => undefined,
  isReady: () => false,
  put: () => undefined,
  end: () => undefined,
};

const anOpen = (over: Partial<Open> = {}): Open => ({
  subscriptionId: "sub_1",
  secretHash: "abc",
  appId: "app_1",
  userId: "usr_before",
  from: null,
  untilMs: Number.POSITIVE_INFINITY,
  writtenMs: 0,
  endsMs: Number.POSITIVE_INFINITY,
  reader,
  revision: 0,
  isGreeted: true,
  isBehind: false,
  isMoved: false,
  ...over,
});

type Checked = {
  /** What the stream is when it is checked. */
  open?: Partial<Open>;
  proof?: Proof;
  /** Happens while the proof is read. */
  meanwhile?: (streams: Set<Open>, one: Open) => void;
};

const since = new Date("2026-11-20T10:00:00Z");
const moved: Proof = { secretHash: "abc", userId: "usr_after", unprovenSince: since };

/** Checks a stream; gives who is watched then. */
const checked = async ({ open, proof = moved, meanwhile }: Checked = {}): Promise<ReadonlySet<Watcher>> => {
  const one = anOpen(open);
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
        meanwhile?.(streams, one);
        if (!streams.has(one)) people.unwatch(one);
        return new Map([["sub_1", proof]]);
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
    const [one] = await checked();
    expect(one).to.include({ userId: "usr_after", isMoved: true });
    expect(one?.from, "it has logged in without a token").to.equal(since);
  });

  it("shows all of the inbox to a device that has proven to be its person's meanwhile", async () => {
    const proof = { ...moved, userId: "usr_before" };
    const [still] = await checked({ open: { from: since }, proof });
    expect(still).to.include({ from: since, isMoved: false });
    const [proven] = await checked({ open: { from: since }, proof: { ...proof, unprovenSince: null } });
    expect(proven).to.include({ from: null, isMoved: true });
  });

  it("watches nobody for a stream that closed while it was looked at", async () => {
    const watched = await checked({ meanwhile: (streams, one) => streams.delete(one) });
    expect(watched.size).to.equal(0);
  });
});
