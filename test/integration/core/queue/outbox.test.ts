import { expect } from "chai";
import type { Collection } from "mongodb";
import { systemClock } from "#core/domain/clock.ts";
import { makeEvent } from "#core/domain/events/make.ts";
import { Unavailable } from "#core/errors.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import { type Outbox, outbox, type WithOutbox } from "#core/queue/outbox.ts";
import { timerSource, timers } from "#core/queue/timers.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { eventBatches } from "#core/storage/events/batches.ts";
import { noWork } from "#core/storage/work/due.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { until } from "../../../support/until.ts";
import { keptLog, testMetrics } from "./helpers.ts";

type Row = WithOutbox & { status: string };

describe("outbox", () => {
  const db = testDatabase("core_outbox", []);
  let rows: Collection<Row>;
  let published: string[] = [];
  let answer: () => Promise<boolean>;
  const events: EventPublisher = {
    publish: async (_tenant, batch) => {
      const isPublished = await answer();
      if (isPublished) published.push(...batch.map((event) => event.id));
      return isPublished;
    },
  };
  let box: Outbox;

  before(async () => {
    rows = db().collection<Row>("rows");
  });
  beforeEach(async () => {
    [published, answer] = [[], () => Promise.resolve(true)];
    await rows.deleteMany({});
    box = outbox<Row>({
      rows,
      events,
      done: { status: "completed" },
      log: keptLog().log,
      metrics: testMetrics().queue,
    });
  });
  afterEach(() => box.stop(AbortSignal.timeout(1_000)));

  const aRow = (id: string, change: Partial<Row> = {}): Row => ({
    _id: id,
    tenant_id: "ten_1",
    status: "completed",
    outbox: [anEvent(id)],
    due_at: new Date(1),
    lease: null,
    fence: 1,
    ...change,
  });
  const keep = async (...kept: Row[]): Promise<void> => void (await rows.insertMany(kept));
  const left = async (id: string) => rows.findOne({ _id: id }, { projection: { _id: 0, outbox: 1, due_at: 1 } });

  it("publishes and clears, and ends only what is done", async () => {
    const [ended, working] = [aRow("a"), aRow("b", { status: "processing" })];
    const leased = aRow("c", { lease: { holder: "x", until: new Date(2) } });
    await keep(ended, working, leased);
    for (const row of [ended, working, leased]) expect(await box.flush(row)).to.equal(true);
    await until(async () => (await left("c"))?.outbox.length === 0);
    await box.stop(AbortSignal.timeout(1_000));
    expect(published).to.have.length(3);
    expect(await left("a")).to.deep.equal({ outbox: [], due_at: null });
    expect(await left("b")).to.deep.equal({ outbox: [], due_at: new Date(1) });
    expect(await left("c")).to.deep.equal({ outbox: [], due_at: new Date(1) });
  });

  it("keeps an event that joined the outbox after it was read, and its due time", async () => {
    const row = aRow("a");
    await keep({ ...row, outbox: [...row.outbox, anEvent("later")] });
    await box.flush(row);
    await box.stop(AbortSignal.timeout(1_000));
    expect(await left("a")).to.deep.equal({ outbox: [anEvent("later")], due_at: new Date(1) });
  });

  for (const [name, broken] of [
    ["full", () => Promise.resolve(false)],
    ["away", () => Promise.reject(new Unavailable("JetStream"))],
  ] as const) {
    it(`leaves everything where it is when JetStream is ${name}`, async () => {
      answer = broken;
      await keep(aRow("a"));
      expect(await box.flush(aRow("a"))).to.equal(false);
      await box.stop(AbortSignal.timeout(1_000));
      expect(await left("a")).to.deep.equal({ outbox: [anEvent("a")], due_at: new Date(1) });
    });
  }

  it("publishes what is due the oldest first, once JetStream is back", async () => {
    const order = Array.from({ length: 300 }, (_, n) => `r${String(n).padStart(3, "0")}`);
    await rows.createIndex({ due_at: 1 });
    await keep(...order.map((id, n) => aRow(id, { due_at: new Date(Date.now() - 1_000 + n) })));
    let tries = 0;
    answer = () => (tries++ < 100 ? Promise.reject(new Unavailable("JetStream")) : Promise.resolve(true));
    const source = timerSource({
      name: "rows",
      collection: rows,
      select: ["tenant_id", "outbox"],
      handle: box.flushDue,
    });
    const common = { clock: systemClock, log: keptLog().log, db: db(), metrics: testMetrics().queue };
    const part = timers({ sources: [source], holder: "one", ...common });
    await part.start(AbortSignal.timeout(1_000));
    await until(() => published.length >= 300).finally(() => part.stop(AbortSignal.timeout(1_000)));
    const ids = order.map((id) => anEvent(id).id);
    const ahead = published.map((id, n) => Math.abs(ids.indexOf(id) - n));
    expect(Math.max(...ahead), "places that one came too early or too late").to.be.below(2 * 64); // so many are under way
  });

  it("clears 1,200 documents in three writes' time", async () => {
    const many = Array.from({ length: 1_200 }, (_, n) => aRow(`r${n}`));
    await keep(...many);
    await Promise.all(many.map((row) => box.flush(row)));
    await box.stop(AbortSignal.timeout(5_000));
    expect(await rows.countDocuments({ outbox: [], due_at: null })).to.equal(1_200);
  });

  it("gives a batch of events to one of several that take it, and has it due again when that one is killed", async () => {
    const batches = eventBatches(db());
    const inMs = (ms: number) => new Date(systemClock.now().getTime() + ms);
    const [dueAt, later] = [inMs(-10), inMs(10_000)];
    const owner = { tenant_id: "ten_1", app_id: "app_1" };
    const row = { ...noWork, ...owner, _id: "evb_1", events: [], traceparent: null, due_at: dueAt, created_at: dueAt };
    await batches.insert([row]);
    const take = { dueBy: dueAt, until: later };
    const taken = await Promise.all(Array.from({ length: 8 }, () => batches.take(["evb_1", "evb_gone"], take)));
    expect(taken.flat().map(({ due_at }) => due_at)).to.deep.equal([later]);
    const next = { dueBy: later, until: inMs(20_000) };
    const [again] = await batches.take(["evb_1"], next);
    expect(again?.due_at, "left by a kill, and due again").to.deep.equal(next.until);
    await batches.giveBack(["evb_1"], take);
    expect(await batches.take(["evb_1"], take), "only who has it gives it back").to.deep.equal([]);
    await batches.giveBack(["evb_1"], next);
    expect((await batches.take(["evb_1"], next)).map(({ _id: id }) => id)).to.deep.equal(["evb_1"]);
  });
});

const anEvent = (from: string): EventEnvelope =>
  makeEvent({ kind: "message.completed", appId: "app_1", subjectId: from, data: {}, at: new Date(0), from: [from] });
