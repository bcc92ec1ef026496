import { expect } from "chai";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import { planRange, type RangeDeps } from "../../../../dispatcher/messages/ranges.ts";
import { aChunk, aLease, aMessage, handClock } from "../../../support/rows/work.ts";

const aim = { isEveryone: true, included: [], excluded: [], filter: { all: [] }, segments: [] };
const message = aMessage({ target: { filters: { all: [] } }, aim });
const id = (n: number): string => `sub_${String(n).padStart(5, "0")}`;
const range = aChunk({
  _id: "chk_range",
  range_after: id(99),
  scanned: { channel: "ios_push", status: "subscribed", after: id(3_000) },
  recipients: [],
  position: 4,
});

/** A range of subscriptions of which those are meant whose number `isMeant`; pages of 500. */
const given = (isMeant: (n: number) => boolean, kept: ChunkRow[] = [], open = 0) => {
  const hinted: string[] = [];
  const deps: RangeDeps = {
    ranges: {
      look: async () => ({ ids: [], looked: 0, isWhole: true, areFew: false }),
      nthBehind: async () => null,
      within: async function* ({ after, until }) {
        const all = Array.from({ length: 4_000 }, (_, n) => n).filter((n) => id(n) > after && id(n) <= until);
        for (let from = 0; from < all.length; from += 500)
          yield all
            .slice(from, from + 500)
            .filter(isMeant)
            .map(id);
      },
    },
    chunks: {
      countOpen: async () => open + kept.filter(({ status }) => status === "open").length,
      keep: async ([part]) => {
        if (part === undefined || kept.some(({ _id }) => _id === part._id)) return false;
        kept.push(part);
        return true;
      },
      reachOf: async (partId) => kept.find(({ _id }) => _id === partId)?.scanned?.after ?? null,
    },
    hints: { chunk: async ({ _id }) => void hinted.push(_id) },
    openChunks: () => 3,
    clock: handClock(),
  };
  const plan = (fence = 1, lease = aLease()) => planRange(deps)({ chunk: { ...range, fence }, message }, lease);
  return { plan, kept, hinted, deps };
};

const everyThird = (n: number): boolean => n % 3 === 0;
const meant = Array.from({ length: 3_001 }, (_, n) => n)
  .filter((n) => n > 99 && everyThird(n))
  .map(id);
const all = (parts: readonly ChunkRow[]): string[] => parts.flatMap(({ recipients }) => recipients).sort();

describe("the planning of a range", () => {
  it("keeps everybody who is meant once, in chunks as large as can be, with its place and its channel", async () => {
    const { plan, kept } = given(everyThird);
    expect(await plan()).to.deep.equal({ kind: "sent" });
    expect(kept.map(({ recipients }) => recipients.length)).to.deep.equal([500, 467]);
    expect(all(kept)).to.deep.equal(meant);
    for (const part of kept) expect(part).to.include({ channel: "ios_push", position: 4, parent_id: "chk_range" });
  });

  it("lets chunks into the queue while there is room, and leaves the others to turns of its message", async () => {
    const { plan, kept, hinted } = given(() => true, [], 1);
    await plan();
    expect(kept.map(({ status }) => status)).to.deep.equal([
      "open",
      "open",
      "waiting",
      "waiting",
      "waiting",
      "waiting",
    ]);
    expect(hinted).to.deep.equal(kept.slice(0, 2).map(({ _id }) => _id));
  });

  it("goes on behind the last chunk that an earlier run kept, whoever is meant by now", async () => {
    const { kept } = given(everyThird);
    const cut = given(everyThird, kept);
    let isOver = false;
    cut.deps.hints.chunk = async () => void (isOver = true);
    expect(await cut.plan(1, { isOver: () => isOver, isLost: () => isOver })).to.deep.equal({ kind: "halted" });
    expect(kept).to.have.length(1);
    const again = given((n) => n % 2 === 0, kept);
    expect(await again.plan(2)).to.deep.equal({ kind: "sent" });
    const recipients = kept.flatMap((part) => part.recipients);
    expect(new Set(recipients).size).to.equal(recipients.length);
    const [, ...rest] = kept;
    const behind = kept[0]?.scanned?.after ?? "";
    expect(all(rest)).to.deep.equal(
      Array.from({ length: 3_001 }, (_, n) => n)
        .filter((n) => n % 2 === 0 && id(n) > behind)
        .map(id),
    );
  });

  it("stops where another has kept a chunk that begins there", async () => {
    const { plan, kept } = given(everyThird);
    await plan();
    expect(await plan()).to.deep.equal({ kind: "halted" });
    expect(all(kept)).to.deep.equal(meant);
  });
});
