import { expect } from "chai";
import { Unavailable } from "#core/errors.ts";
import type { Offered } from "#core/queue/events.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { EventBatchRow, StoredEvent } from "#core/storage/events/batch-row.ts";
import type { FirstEvent } from "#core/storage/events/claims.ts";
import { eventStore } from "../../../../apiserver/publishing/event-store.ts";
import { until } from "../../../support/until.ts";

const now = new Date("2026-11-21T12:00:00Z");
const log = createLog({ program: "test", level: "error", destination: { write: () => undefined } });

type Offer = (events: StoredEvent[]) => Offered<StoredEvent>;
const takesAll: Offer = () => ({ left: [], away: null });
const isAway: Offer = (left) => ({ left, away: new Unavailable("JetStream") });

/** A store whose first write waits, so that what comes meanwhile is in one write. */
const aStore = ({ fails = false, claimFails = false, offer = takesAll } = {}) => {
  const { promise: first, resolve: go } = Promise.withResolvers<void>();
  const claimed = new Map<string, FirstEvent>();
  const stored = new Set<string>();
  const writes: EventBatchRow[][] = [];
  const offered: string[][] = [];
  const published: { row: EventBatchRow; mayBeRepeated: boolean | undefined }[] = [];
  const store = eventStore({
    batches: {
      insert: async (rows) => {
        writes.push([...rows]);
        await first;
        if (fails) throw new Error("away");
      },
      remove: async () => undefined,
    },
    claims: {
      claim: async (events) => {
        if (claimFails) throw new Error("away");
        const before = new Map(claimed);
        for (const { once, id, timestamp } of events) if (!claimed.has(once)) claimed.set(once, { id, timestamp });
        return new Map(events.flatMap(({ once }) => (before.has(once) ? [[once, before.get(once) ?? "stored"]] : [])));
      },
    },
    events: { known: async (ids) => new Set(ids.filter((id) => stored.has(id))) },
    outbox: {
      offer: async (row) => {
        offered.push(row.events.map(({ id }) => id));
        return offer(row.events);
      },
      publish: async (row, mayBeRepeated) => published.push({ row, mayBeRepeated }) > 0,
    },
    clock: { now: () => now },
    log,
  });
  return { store, go, writes, offered, published, claimed, stored };
};

const plain = (appId: string, ...ids: string[]) => ({
  tenantId: `ten_${appId}`,
  appId,
  traceparent: null,
  events: ids.map((id) => ({ id, type: "event.received" as const, text: "{}", once: false as const })),
});
/** Events of which each has an id of its sender: `once`, and one of its own. */
const withIds = (appId: string, ...ids: [once: string, id: string][]) => ({
  ...plain(appId),
  events: ids.map(([once, id]) => ({
    id,
    type: "event.received" as const,
    once,
    timestamp: now.toISOString(),
    text: JSON.stringify({ id, timestamp: now.toISOString(), data: { once } }),
  })),
});
const idsOf = (rows: readonly EventBatchRow[] | undefined) =>
  rows?.map((row) => [row.app_id, row.events.map(({ id }) => id)]);

describe("the store of events", () => {
  it("stores nothing of events without an id that JetStream acknowledges", async () => {
    const { store, offered, writes } = aStore();
    expect(await Promise.all([store.keep(plain("a", "1")), store.keep(plain("a", "2"))])).to.deep.equal([0, 0]);
    expect([offered, writes]).to.deep.equal([[["1", "2"]], []]);
  });

  it("stores only what JetStream refuses, publishes first again, and waits for the timer", async () => {
    const offer = (events: StoredEvent[]) => ({ left: events.filter(({ id }) => id === "2"), away: null });
    const { store, go, writes, offered, published } = aStore({ offer });
    go();
    expect(await Promise.all([store.keep(plain("a", "1", "2")), store.keep(plain("b", "3"))])).to.deep.equal([0, 0]);
    await store.keep(plain("a", "4"));
    expect(writes.map(idsOf)).to.deep.equal([[["a", ["2"]]]]);
    expect([offered, published]).to.deep.equal([[["1", "2"], ["3"], ["4"]], []]);
  });

  it("has no request wait for a JetStream that did not answer, until it has taken a stored batch", async () => {
    const { store, go, writes, offered, published } = aStore({ offer: isAway });
    go();
    for (const id of ["1", "2"]) await store.keep(plain("a", id));
    await store.stop();
    await store.keep(plain("a", "3"));
    expect(offered, "before it was away, and when it was back").to.deep.equal([["1"], ["3"]]);
    expect(writes.map(idsOf)).to.deep.equal([[["a", ["1"]]], [["a", ["2"]]], [["a", ["3"]]]]);
    expect(published.map(({ row }) => row.events.map(({ id }) => id))).to.deep.equal([["2"]]);
  });

  it("fails only the requests whose events neither has", async () => {
    const offer = (events: StoredEvent[]) => ({ left: events.filter(({ id }) => id === "1"), away: null });
    const { store, go } = aStore({ offer, fails: true });
    go();
    const kept = await Promise.allSettled([store.keep(plain("a", "1")), store.keep(plain("b", "2"))]);
    expect(kept.map(({ status }) => status)).to.deep.equal(["rejected", "fulfilled"]);
  });

  it("writes what comes at once into one document for an app", async () => {
    const { store, go, writes, published } = aStore({ offer: isAway });
    const before = store.keep(plain("a", "0"));
    await until(async () => writes.length === 1);
    const kept = [store.keep(plain("a", "1")), store.keep(plain("a", "2")), store.keep(plain("b", "3"))];
    kept.push(store.keep(plain("a", "4")));
    go();
    expect(await Promise.all([before, ...kept])).to.deep.equal([0, 0, 0, 0, 0]);
    expect(writes.map(idsOf)).to.deep.equal([
      [["a", ["0"]]],
      [
        ["a", ["1", "2", "4"]],
        ["b", ["3"]],
      ],
    ]);
    await store.stop();
    expect(published.map(({ mayBeRepeated }) => mayBeRepeated)).to.deep.equal([false, false]);
  });

  it("begins another document after a thousand events or a million characters", async () => {
    const { store, go, writes } = aStore({ offer: isAway });
    go();
    const large = plain("a", "1", "2", "3", "4", "5").events.map((event) => ({ ...event, text: "x".repeat(400_000) }));
    const many = plain("a", ...Array.from({ length: 1_001 }, (_, n) => `m${n}`));
    await store.keep({ ...plain("a"), events: large });
    await store.keep(many);
    expect(writes.map((rows) => rows.map(({ events }) => events.length))).to.deep.equal([
      [2, 2, 1],
      [1_000, 1],
    ]);
  });

  describe("of an id that counts once a day", () => {
    const arrive = async (store: ReturnType<typeof aStore>["store"]) => store.keep(withIds("a", ["x", "evt_1"]));

    it("claims it, and stores nothing that JetStream acknowledges", async () => {
      const { store, offered, writes, claimed } = aStore();
      expect(await store.keep(withIds("a", ["x", "evt_1"], ["y", "evt_2"], ["x", "evt_3"]))).to.equal(1);
      expect([offered, writes]).to.deep.equal([[["evt_1", "evt_2"]], []]);
      expect([...claimed.keys()]).to.have.members(["x", "y"]);
    });

    it("tells each request of one moment which of its events had come before", async () => {
      const { store, stored } = aStore();
      stored.add("evt_0").add("evt_1").add("evt_2");
      await store.keep(withIds("a", ["w", "evt_0"]));
      const kept = [["x", "evt_1"] as const, ["y", "evt_2"] as const, ["x", "evt_3"] as const, ["w", "evt_4"] as const];
      const replies = await Promise.all(kept.map(([once, id]) => store.keep(withIds("a", [once, id]))));
      expect(replies).to.deep.equal([0, 0, 1, 1]);
    });

    it("does nothing with a repetition of what is stored", async () => {
      const { store, offered, writes, stored } = aStore();
      await arrive(store);
      stored.add("evt_1");
      expect(await store.keep(withIds("a", ["x", "evt_2"]))).to.equal(1);
      expect([offered, writes]).to.deep.equal([[["evt_1"]], []]);
    });

    it("publishes a repetition of what nobody has stored yet as it was, and says that it may be one", async () => {
      const { store, go, offered, writes, published, claimed } = aStore();
      go();
      claimed.set("x", { id: "evt_1", timestamp: "2026-11-21T11:00:00.000Z" }); // by one who was killed before they published it
      expect(await store.keep(withIds("a", ["x", "evt_2"], ["y", "evt_3"]))).to.equal(1);
      await store.stop();
      expect(offered).to.deep.equal([["evt_3"]]);
      expect(writes.map(idsOf)).to.deep.equal([[["a", ["evt_1"]]]]);
      const [again] = published;
      expect([published.length, again?.mayBeRepeated]).to.deep.equal([1, true]);
      const text = JSON.parse(again?.row.events[0]?.text ?? "{}") as object;
      expect(text).to.deep.equal({ id: "evt_1", timestamp: "2026-11-21T11:00:00.000Z", data: { once: "x" } });
    });

    it("leaves alone what the last release has stored", async () => {
      const { store, offered, writes, claimed } = aStore();
      claimed.set("x", "stored");
      expect(await arrive(store)).to.equal(1);
      expect([offered, writes]).to.deep.equal([[], []]);
    });

    it("fails a request whose claim cannot be written, and publishes nothing", async () => {
      const { store, offered } = aStore({ claimFails: true });
      const failure = await arrive(store).catch((error: Error) => error.message);
      expect([failure, offered]).to.deep.equal(["away", []]);
    });
  });
});
