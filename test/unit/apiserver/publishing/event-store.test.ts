import { expect } from "chai";
import { Unavailable } from "#core/errors.ts";
import type { Offered } from "#core/queue/events.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { EventBatchRow, StoredEvent } from "#core/storage/events/batch-row.ts";
import { eventStore } from "../../../../apiserver/publishing/event-store.ts";

const now = new Date("2026-11-21T12:00:00Z");
const log = createLog({ program: "test", level: "error", destination: { write: () => undefined } });

type Offer = (events: StoredEvent[]) => Offered<StoredEvent>;
const takesAll: Offer = () => ({ left: [], away: null });

/** A store whose first write waits, so that what comes meanwhile is in one write. */
const aStore = ({ others = new Set<string>(), away = false, offer = takesAll } = {}) => {
  const { promise: first, resolve: go } = Promise.withResolvers<void>();
  const writes: EventBatchRow[][] = [];
  const offered: string[][] = [];
  const published: { row: EventBatchRow; others: ReadonlySet<string> }[] = [];
  const store = eventStore({
    batches: {
      insert: async (rows) => {
        writes.push([...rows]);
        await first;
        if (away) throw new Error("away");
        return others;
      },
      remove: async () => undefined,
    },
    outbox: {
      offer: async (row) => {
        offered.push(row.events.map(({ id }) => id));
        return offer(row.events);
      },
      publish: async (row, not) => published.push({ row, others: not }) > 0,
    },
    clock: { now: () => now },
    log,
  });
  return { store, go, writes, offered, published };
};

const anEvent = (id: string, text = "{}"): StoredEvent => ({ id, type: "event.received", text, once: id });
const plain = (appId: string, ...ids: string[]) => {
  const { events, ...of } = given(appId, ...ids);
  return { ...of, events: events.map((event) => ({ ...event, once: false as const })) };
};
const given = (appId: string, ...ids: string[]) => ({
  tenantId: `ten_${appId}`,
  appId,
  traceparent: null,
  events: ids.map((id) => anEvent(id)),
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
    const offer = (left: StoredEvent[]) => ({ left, away: new Unavailable("JetStream") });
    const { store, go, writes, offered, published } = aStore({ offer });
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
    const { store, go } = aStore({ offer, away: true });
    go();
    const kept = await Promise.allSettled([store.keep(plain("a", "1")), store.keep(plain("b", "2"))]);
    expect(kept.map(({ status }) => status)).to.deep.equal(["rejected", "fulfilled"]);
  });

  it("writes what comes at once into one document for an app", async () => {
    const { store, go, writes, published } = aStore();
    const kept = [store.keep(given("a", "1")), store.keep(given("a", "2")), store.keep(given("b", "3"))];
    kept.push(store.keep(given("a", "4")));
    go();
    expect(await Promise.all(kept)).to.deep.equal([0, 0, 0, 0]);
    expect(writes.map(idsOf)).to.deep.equal([
      [
        ["a", ["1", "2", "4"]],
        ["b", ["3"]],
      ],
    ]);
    await store.stop();
    expect(published).to.have.length(2);
  });

  it("tells each request which of its events had come before", async () => {
    const { store, go, published } = aStore({ others: new Set(["1", "3"]) });
    const kept = [store.keep(given("a", "0")), store.keep(given("a", "1", "2")), store.keep(given("a", "2", "3", "4"))];
    go();
    expect(await Promise.all(kept)).to.deep.equal([0, 1, 2]);
    await store.stop();
    expect([...(published[0]?.others ?? [])]).to.deep.equal(["1", "3"]);
  });

  it("begins another document after a thousand events or a million characters", async () => {
    const { store, go, writes } = aStore();
    const large = Array.from({ length: 5 }, (_, n) => anEvent(`l${n}`, "x".repeat(400_000)));
    const many = Array.from({ length: 1_001 }, (_, n) => anEvent(`m${n}`));
    go();
    await store.keep({ ...given("a"), events: large });
    await store.keep({ ...given("a"), events: many });
    expect(writes.map((rows) => rows.map(({ events }) => events.length))).to.deep.equal([
      [2, 2, 1],
      [1_000, 1],
    ]);
  });

  it("rejects, and publishes nothing, when the write failed", async () => {
    const { store, go, published } = aStore({ away: true });
    const kept = store.keep(given("a", "1"));
    go();
    expect(await kept.catch((error: Error) => error.message)).to.equal("away");
    await store.stop();
    expect(published).to.deep.equal([]);
  });
});
