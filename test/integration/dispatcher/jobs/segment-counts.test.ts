import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Db } from "mongodb";
import { newId } from "#core/domain/ids.ts";
import { timings } from "#core/domain/timing.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SegmentCountRow, segmentCountCollection, segmentCounts } from "#core/storage/segments/counts.ts";
import type { SegmentRow } from "#core/storage/segments/segment-row.ts";
import { segmentCollection } from "#core/storage/segments/segments.ts";
import { noWork } from "#core/storage/work/due.ts";
import { segmentCountJob } from "../../../../dispatcher/jobs/segment-counts.ts";
import { storedFacts } from "../../../support/filters/facts.ts";
import { aSubscription, aUser, seed } from "../../../support/rows/fixtures.ts";
import { aSegment } from "../../../support/rows/segments.ts";
import { lendDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { keptLog } from "../../core/queue/helpers.ts";

const [minuteMs, hourMs] = [60_000, 3_600_000];
const gold = { all: [{ field: "tags.plan", op: "eq", value: "gold" }] };
const naming = (id: string) => ({ all: [{ field: "segment", op: "member", value: id }] });

describe("counts of segments", () => {
  let db: Db;
  let giveBack: () => Promise<void>;
  let of: { tenant_id: string; app_id: string };
  let nowMs: number;
  let announced: string[];
  /** Called when a page of people has been read. */
  let onPage: () => Promise<void>;

  before(async () => {
    ({ db, giveBack } = await lendDatabase((await testServers()).mongodbUrl));
  });
  beforeEach(() => {
    of = { tenant_id: newId("tenant", new Date()), app_id: newId("app", new Date()) };
    nowMs = Date.now();
    announced = [];
    onPage = async () => undefined;
  });
  after(() => giveBack?.());

  const clock = { now: () => new Date(nowMs) };
  const segments = () => collectionOf<SegmentRow>(db, segmentCollection);
  const counts = () => collectionOf<SegmentCountRow>(db, segmentCountCollection);
  const keep = async (change: Partial<SegmentRow>): Promise<SegmentRow> => {
    const row = aSegment({ ...of, name: randomUUID(), kind: "filter", filter: gold, ...change });
    await segments().insertOne(row);
    await segmentCounts(db).ask([row], clock.now());
    nowMs += 1_000; // it is due
    return row;
  };
  const segment = (id: string) => segments().findOne({ _id: id });
  const count = (id: string) => counts().findOne({ _id: id });

  const run = async (id: string): Promise<Record<string, unknown> | undefined> => {
    const { log, lines } = keptLog();
    const stopping = new AbortController().signal;
    const announcer = { changed: (...what: unknown[]) => void announced.push(what.join(" ")) };
    const job = segmentCountJob({
      db: slowed(),
      factsOf: storedFacts(db),
      announcer,
      stopping,
      clock,
      random: () => 0,
    });
    const deps = { holder: randomUUID(), stopping, clock, log, metrics: createMetrics("dispatcher") };
    await job.run(id, { ...deps, timing: timings.short }, stopping);
    return lines.find(({ event }) => event === "job.ran");
  };

  /** The same database, which says when people are read. */
  const slowed = (): Db =>
    new Proxy(db, {
      get: (target, name) => {
        if (name !== "collection") return Reflect.get(target, name) as unknown;
        return (collection: string) => (collection === "subscriptions" ? told(target) : target.collection(collection));
      },
    });
  const told = (target: Db) => {
    const rows = target.collection("subscriptions");
    return {
      find: (...given: Parameters<typeof rows.find>) => ({
        toArray: async () => {
          const found = await rows.find(...given).toArray();
          await onPage();
          return found;
        },
      }),
    };
  };

  const people = async (plans: readonly string[]): Promise<void> => {
    const users = plans.map((plan) => aUser({ ...of, tags: { plan } }));
    const subscriptions = users.flatMap((user) => [
      aSubscription({ ...of, user_id: user._id, token: randomUUID(), channel: "ios_push" }),
      aSubscription({ ...of, user_id: user._id, token: randomUUID(), channel: "android_push", status: "invalid" }),
    ]);
    await seed(db, { users, subscriptions });
  };

  it("are users and subscribed subscriptions, of all of an app's people, and are announced", async () => {
    await people(Array.from({ length: 1_200 }, (_, i) => (i % 3 === 0 ? "silver" : "gold")));
    const { _id, updated_at } = await keep({});
    await run(_id);
    const counted_at = clock.now();
    const expected = { count: 800, by_channel: { ios_push: 800 }, counted_at, updated_at };
    expect(await segment(_id)).to.deep.include(expected);
    expect(announced).to.deep.equal([`segments ${_id} ${of.app_id}`]);
    expect((await count(_id))?.due_at).to.deep.equal(new Date(nowMs + hourMs));
  });

  it("say which tags of a filter nobody had, until it was counted after another change", async () => {
    await people(["gold", "silver"]);
    const any = [
      { field: "tags.plan", op: "eq", value: "platinum" },
      { field: "tags.plam", op: "eq", value: "gold" },
    ];
    const { _id } = await keep({ filter: { any } });
    await run(_id);
    expect(await segment(_id)).to.deep.include({ count: 0, unknown_tags: ["plam"] });
    await seed(db, { users: [aUser({ ...of, tags: { plam: "x" } })] });
    await segmentCounts(db).ask([{ _id, ...of }], clock.now());
    nowMs += 1_000;
    await run(_id);
    expect(await segment(_id)).to.deep.include({ count: 0, unknown_tags: [] });
  });

  it("are made anew hourly while something uses the segment, else daily", async () => {
    await people(["gold"]);
    const { _id } = await keep({});
    await run(_id);
    const first = (await segment(_id))?.counted_at;
    const isCounted = async () => (await segment(_id))?.counted_at?.getTime() === nowMs;
    const after = async (ms: number): Promise<boolean> => {
      nowMs += ms;
      await counts().updateOne({ _id }, { $set: { due_at: clock.now() } });
      await run(_id);
      return isCounted();
    };
    expect(await after(hourMs)).to.equal(false);
    expect((await segment(_id))?.counted_at).to.deep.equal(first);
    expect(await after(23 * hourMs)).to.equal(true);
    await segments().insertOne(aSegment({ ...of, name: "Naming", kind: "filter", filter: naming(_id), names: [_id] }));
    expect(await after(30 * minuteMs)).to.equal(false);
    expect(await after(30 * minuteMs)).to.equal(true);
  });

  it("of a segment that changes while it is counted are left for those of what it says now", async () => {
    await people(["gold", "silver", "silver"]);
    const { _id } = await keep({});
    onPage = async () => {
      onPage = async () => undefined;
      await segmentCounts(db).ask([{ _id, ...of }], clock.now());
      await segments().updateOne({ _id }, { $set: { filter: { all: [{ ...gold.all[0], value: "silver" }] } } });
    };
    expect(await run(_id)).to.include({ isSuperseded: true });
    expect(await segment(_id)).to.include({ count: null });
    nowMs += 1_000;
    await run(_id);
    expect(await segment(_id)).to.include({ count: 2 });
  });

  it("of a segment that is removed while it is counted end, and the next of its app goes on", async () => {
    await people(["gold", "silver"]);
    const [gone, next] = [await keep({}), await keep({})];
    onPage = async () => {
      onPage = async () => undefined;
      await run(next._id);
      expect(await segment(next._id)).to.include({ count: null });
      await segments().deleteOne({ _id: gone._id });
      await segmentCounts(db).cancel(gone._id, clock.now());
    };
    expect(await run(gone._id)).to.include({ isSuperseded: true });
    expect([await segment(gone._id), await count(gone._id)]).to.deep.equal([null, null]);
    expect(await count(next._id)).to.deep.include({ due_at: clock.now(), waiting_since: null });
    await run(next._id);
    expect(await segment(next._id)).to.include({ count: 1 });
  });

  it("are made one at a time for each app, and who waits is woken", async () => {
    await people(["gold"]);
    const [one, two] = [await keep({}), await keep({})];
    const held = { is_counting: true, lease: { holder: "other", until: new Date(nowMs + minuteMs) } };
    await counts().updateOne({ _id: one._id }, { $set: held });
    expect(await run(two._id)).to.include({ waitsFor: "another" });
    expect(await segment(two._id)).to.include({ count: null });
    const waiting = await count(two._id);
    expect(waiting).to.deep.include({ waiting_since: clock.now(), due_at: new Date(nowMs + 30_000) });
    await counts().updateOne({ _id: one._id }, { $set: { lease: null, is_counting: false, due_at: clock.now() } });
    await run(one._id);
    expect(await segment(one._id)).to.include({ count: 1 });
    while ((await count(two._id))?.waiting_since !== null) await new Promise(setImmediate);
    await run(two._id);
    expect(await segment(two._id)).to.include({ count: 1 });
  });

  it("go on with one of two that are taken at once", async () => {
    await people(["gold"]);
    const both = [await keep({}), await keep({})];
    await Promise.all(both.map(({ _id }) => run(_id)));
    const counted = await segments().countDocuments({ app_id: of.app_id, count: 1 });
    expect(counted).to.be.at.least(1);
  });

  it("have those counted that name the segment, and none of what cannot be opened", async () => {
    await people(["gold"]);
    const inner = await keep({});
    const outer = await keep({ filter: naming(inner._id), names: [inner._id] });
    await run(outer._id);
    const before = await count(outer._id);
    await run(inner._id);
    expect((await count(outer._id))?.fence).to.equal((before?.fence ?? 0) + 1);
    await segments().deleteOne({ _id: inner._id });
    nowMs += 1_000;
    expect(await run(outer._id)).to.include({ isUnusable: true });
  });

  it("are of everybody on a list, soon after it has changed", async () => {
    const on = aUser({ ...of, lists: ["seg_list"] });
    await seed(db, { users: [on, aUser(of)], subscriptions: [] });
    await keep({ _id: "seg_list", kind: "list", filter: null });
    await run("seg_list");
    expect(await segment("seg_list")).to.include({ count: 1 });
    nowMs += minuteMs;
    await segmentCounts(db).askSoon({ _id: "seg_list", ...of }, clock.now(), 10_000);
    const asked = await count("seg_list");
    expect(asked?.asked_at).to.deep.equal(clock.now());
    expect(asked?.due_at?.getTime()).to.be.at.most(nowMs + 10_000); // earlier where the run before had not looked yet whether it was asked for again
  });

  it("of a segment that does not come are forgotten within hours", async () => {
    const _id = newId("segment", clock.now());
    await counts().insertOne({
      ...noWork,
      ...of,
      _id,
      due_at: clock.now(),
      asked_at: clock.now(),
      waiting_since: null,
      is_counting: false,
    });
    await run(_id);
    expect((await count(_id))?.due_at).to.deep.equal(new Date(nowMs + minuteMs));
    nowMs += 2 * hourMs;
    await run(_id);
    expect(await count(_id)).to.equal(null);
  });
});
