import { expect } from "chai";
import type { Counts } from "#core/schema/messages/message.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { Delivered } from "../../../../dispatcher/messages/delivery/work.ts";
import { type SendChunksDeps, sendChunks } from "../../../../dispatcher/messages/send-chunks.ts";
import { type TurnDeps, turn } from "../../../../dispatcher/messages/turn.ts";
import { aChunk, aLease, aMessage, anApp, aSubscription, handClock, noon } from "../../../support/rows/work.ts";

const ids = (count: number) => Array.from({ length: count }, (_, n) => `sub_${String(n).padStart(5, "0")}`);
const nothing: Delivered = { stored: [], fresh: [], again: [], invalid: [], doubted: 0, halted: false };

const lookedAt = 5_000;

type Change = Partial<Pick<SendChunksDeps, "deliver" | "followUp">>;
type Parts = TurnDeps["chunks"] & SendChunksDeps["chunks"];

/** A turn with the real sending of chunks, over stores and recipients of the test. */
const given = (audience: string[], change: Change = {}, stored: Partial<Parts> = {}, areFew = false) => {
  const did: string[] = [];
  const kept: ChunkRow[] = [];
  const delivered: string[] = [];
  const counted: Counts[] = [];
  const clock = handClock();
  const chunks: Parts = {
    last: async () => null,
    isBegun: async () => false,
    discardWaiting: async () => void did.push("discard"),
    keep: async (made) => {
      if (made.length > 0) did.push("keep");
      kept.push(...made);
      return true;
    },
    countOpen: async () => 0,
    countWaiting: async () => kept.filter(({ status }) => status === "waiting").length,
    waiting: async (_id, limit) => kept.filter((chunk) => chunk.status === "waiting").slice(0, limit),
    open: async () => void did.push("open"),
    recipientsOfRetries: async () => [],
    nextScheduled: async () => [],
    ...stored,
  };
  const deps: TurnDeps = {
    audience: {
      page: async ({ after, limit }) => audience.filter((id) => id > after).slice(0, limit),
      resolve: async () => new Map<Channel, Reached[]>([["ios_push", audience.map((_id) => aSubscription({ _id }))]]),
    },
    ranges: {
      look: async ({ after, limit, mostRows }) => {
        const looked = audience.filter((id) => id > after).slice(0, Math.min(mostRows, areFew ? Infinity : lookedAt));
        const found = looked.slice(0, limit);
        return {
          ids: found,
          looked: looked.length,
          isWhole: looked.at(-1) === audience.at(-1) && found.length < limit,
          areFew,
        };
      },
      nthBehind: async (_of, after, n) => audience.filter((id) => id > after)[n - 1] ?? null,
      within: async function* ({ after, until }) {
        yield audience.filter((id) => id > after && id <= until);
      },
    },
    chunks,
    send: sendChunks({
      deliver: async ({ chunk }) => {
        delivered.push(...chunk.recipients);
        return nothing;
      },
      followUp: async () => true,
      chunks,
      countUsage: async () => undefined,
      messages: { count: async (_id, counts) => void counted.push(counts) },
      clock,
      ...change,
    }),
    messages: { wait: async () => true, begin: async () => true },
    keepRows: async () => {
      did.push("rows");
      return false;
    },
    hints: { chunk: async (chunk) => void did.push(`hint ${kept.findIndex(({ _id }) => _id === chunk._id)}`) },
    openChunks: () => 2,
    clock,
  };
  const explicit = aMessage({ target: { include_subscription_ids: audience.slice(0, 1) } });
  return {
    did,
    kept,
    delivered,
    counted,
    all: (message = aMessage()) => turn(deps)(message, anApp(), aLease()),
    explicit: (fence = 1) => turn(deps)({ ...explicit, fence }, anApp(), aLease()),
  };
};

describe("a turn of a message", () => {
  const aim = { isEveryone: true, included: [], excluded: [], filter: { all: [] }, segments: [] };
  const filtered = (over: Parameters<typeof aMessage>[0] = {}) =>
    aMessage({ target: { filters: { all: [] } }, aim, ...over });

  it("queues each part of an audience of segments as it is found, before the next is looked for", async () => {
    const aimed = given(ids(1_500), {}, {}, true); // few among many
    await aimed.all(filtered());
    expect(aimed.did).to.deep.equal(["keep", "hint 0", "keep", "hint 1"]);
    expect(aimed.kept.map(({ recipients }) => recipients.length)).to.deep.equal([500, 500]);
  });

  it("reads the audience of a throttled message ahead, and says about when each part is sent", async () => {
    const { all, did, kept } = given(ids(1_200));
    const result = await all(aMessage({ throttle_per_minute: 20 }));
    expect(result).to.deep.equal({ kind: "under_way", planned: true });
    expect(did).to.deep.equal(["keep", "keep", "keep", "open", "hint 0", "hint 1", "rows"]);
    expect(kept.flatMap(({ recipients }) => recipients)).to.deep.equal(ids(1_200));
    expect(kept.every(({ recipients, scanned }) => scanned?.after === recipients.at(-1))).to.equal(true);
    const minutes = (at = new Date(0)) => (at.getTime() - noon.getTime()) / 60_000;
    expect(kept.slice(0, 3).map(({ expected }) => [minutes(expected?.from), minutes(expected?.until)])).to.deep.equal([
      [0, 0.5],
      [0.5, 1],
      [1, 1.5],
    ]);
    const rows = kept.filter(({ has_rows: has, rows_due: due }) => has === true && due === true);
    expect(minutes(rows[0]?.expected?.from), "the first that is more than a quarter of an hour ahead").to.equal(15.5);
    expect(rows).to.have.length(kept.length - 31);
  });

  it("sends a small audience of segments in its first turn, without a range", async () => {
    const { all, did, delivered } = given(ids(500));
    expect(await all(filtered())).to.deep.equal({ kind: "complete", all: [] });
    expect([did, delivered.length]).to.deep.equal([[], 500]);
  });

  it("has ranges of a large audience of segments planned by whoever takes them, each twice as large as the one before", async () => {
    const audience = ids(3_400);
    const { all, kept, did } = given(audience);
    expect(await all(filtered())).to.deep.equal({ kind: "under_way", planned: false });
    expect(did).to.deep.equal(["keep", "hint 0", "keep", "hint 1"]);
    const [first, second] = kept as [ChunkRow, ChunkRow];
    expect(first).to.deep.include({ range_after: "", position: 0, recipients: [], status: "open", may_overlap: false });
    expect(second).to.deep.include({ range_after: audience[999], position: 1 });
    expect(second.scanned?.after).to.equal(audience[2_999]);
    const next = given(audience, {}, { last: async () => second });
    expect(await next.all(filtered({ fence: 2 }))).to.deep.equal({ kind: "under_way", planned: true });
    expect(next.kept.map(({ range_after: after }) => after)).to.deep.equal([audience[2_999]]);
  });

  it("lets in what was found before it has more ranges planned", async () => {
    const found = ["chk_1", "chk_2"].map((_id) => aChunk({ _id, status: "waiting" }));
    const last = aChunk({
      range_after: "",
      scanned: { channel: "ios_push", status: "subscribed", after: "sub_00999" },
    });
    const { all, did } = given(ids(9_000), {}, { last: async () => last, waiting: async () => found });
    expect(await all(filtered({ fence: 2 }))).to.deep.equal({ kind: "under_way", planned: false });
    expect(did).to.deep.equal(["open", "hint -1", "hint -1"]);
  });

  it("leaves ranges to the turn that has cut them at the same place", async () => {
    const { all, did } = given(ids(9_000), {}, { keep: async () => false });
    expect(await all(filtered())).to.deep.equal({ kind: "under_way", planned: false });
    expect(did).to.deep.equal([]);
  });

  it("sends a small audience in its first turn, without a chunk", async () => {
    const { all, did, delivered, counted } = given(ids(500));
    expect(await all()).to.deep.equal({ kind: "complete", all: [] });
    expect([did, counted]).to.deep.equal([[], []]);
    expect(delivered).to.have.length(500);
  });

  it("completes a message that reaches nobody", async () => {
    expect(await given([]).all()).to.deep.equal({ kind: "complete", all: [] });
  });

  it("cuts a large audience only as far as its share of the queue", async () => {
    const { all, kept, did } = given(ids(501 + 1_000));
    expect(await all()).to.deep.equal({ kind: "under_way", planned: false });
    expect(kept.map((chunk) => chunk.recipients.length)).to.deep.equal([500, 500]);
    expect(did).to.deep.equal(["keep", "hint 0", "hint 1"]);
  });

  it("goes on behind the last chunk", async () => {
    const audience = ids(1_200);
    const last = aChunk({
      position: 1,
      scanned: { channel: "ios_push", status: "subscribed", after: audience[999] ?? "" },
    });
    const { all, kept } = given(audience, {}, { last: async () => last });
    expect(await all(aMessage({ fence: 2 }))).to.deep.equal({ kind: "under_way", planned: true });
    expect(kept).to.have.length(1);
    expect(kept[0]).to.deep.include({ position: 2, recipients: audience.slice(1_000) });
  });

  it("waits while its share of the queue is taken", async () => {
    const { all, did } = given(ids(2_000), {}, { last: async () => aChunk(), countOpen: async () => 2 });
    expect(await all(aMessage({ fence: 2 }))).to.deep.equal({ kind: "under_way", planned: false });
    expect(did).to.deep.equal([]);
  });

  it("completes when everything is planned and the last chunk has ended", async () => {
    expect(await given([]).all(aMessage({ planned: true }))).to.deep.equal({ kind: "complete" });
  });

  it("does not complete while a retry is due later", async () => {
    const { all } = given([], {}, { countOpen: async () => 1 });
    expect(await all(aMessage({ planned: true }))).to.deep.equal({ kind: "under_way", planned: true });
  });

  it("keeps every chunk of a large explicit audience before it lets the first into the queue", async () => {
    const { explicit, did, kept } = given(ids(1_600));
    expect(await explicit()).to.deep.equal({ kind: "under_way", planned: true });
    expect(kept).to.have.length(4);
    expect(did).to.deep.equal(["discard", "keep", "open", "hint 0", "hint 1"]);
  });

  it("does not cut an explicit audience anew once its first chunk was let in", async () => {
    const { explicit, did } = given(ids(1_600), {}, { isBegun: async () => true, countOpen: async () => 2 });
    expect(await explicit(2)).to.deep.equal({ kind: "under_way", planned: true });
    expect(did).to.deep.equal([]);
  });

  it("is under way while a small message has recipients to try again, and counts what was stored", async () => {
    const again = [{ subscriptionId: "sub_00000", at: noon, mayHaveArrived: false }];
    const { all, counted } = given(ids(1), { deliver: async () => ({ ...nothing, again }) });
    expect(await all()).to.deep.equal({ kind: "under_way", planned: true });
    expect(counted).to.deep.equal([{ targeted: 0 }]);
  });

  it("leaves out those whom an interrupted first turn handed to a retry", async () => {
    const { all, delivered } = given(ids(3), {}, { recipientsOfRetries: async () => ["sub_00001"] });
    expect(await all(aMessage({ fence: 2 }))).to.deep.equal({ kind: "under_way", planned: true });
    expect(delivered).to.deep.equal(["sub_00000", "sub_00002"]);
  });

  it("is halted, not complete, when it was stopped before everyone was reached", async () => {
    const { all } = given(ids(1), { deliver: async () => ({ ...nothing, halted: true }) });
    expect(await all()).to.deep.equal({ kind: "halted", isUntouched: true });
  });

  it("is halted when its events could not be published, so that it is gone through again", async () => {
    const invalid = [{ ...aSubscription(), since: noon }];
    const { all } = given(ids(1), { deliver: async () => ({ ...nothing, invalid }), followUp: async () => false });
    expect(await all()).to.deep.equal({ kind: "halted", isUntouched: true });
  });
});
