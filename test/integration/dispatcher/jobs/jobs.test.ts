import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { type Collection, type Db, MongoClient } from "mongodb";
import { dayMs } from "#core/domain/durations.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { jobStream } from "#core/queue/jetstream/topology.ts";
import { subjects } from "#core/queue/subjects.ts";
import { timers } from "#core/queue/timers.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { ensureIndexes } from "#core/storage/collections.ts";
import { dueIndex, noWork } from "#core/storage/work/due.ts";
import type { JobRow } from "#core/storage/work/jobs.ts";
import type { JobType } from "../../../../dispatcher/jobs/job.ts";

import { jobParts } from "../../../../dispatcher/jobs/parts.ts";
import { job } from "../../../../dispatcher/jobs/run.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { until } from "../../../support/until.ts";
import { keptLog } from "../../core/queue/helpers.ts";

/** A type of job that no release has: it goes through pages, and keeps how many it has behind it. */
type ExportRow = JobRow & { page: number; by?: string };

const ended = { end: { dueAt: null } };

describe("jobs", function () {
  this.timeout(60_000);
  const prefix = `jobs_${randomUUID().slice(0, 8)}`;
  const spec = jobStream(prefix);
  const queue = subjects(prefix);
  let mongo: MongoClient;
  let db: Db;
  let rows: Collection<ExportRow>;
  let nats: Nats;
  let shiftMs = 0;
  const clock = { now: () => new Date(Date.now() + shiftMs) };
  let running: Part[] = [];

  before(async () => {
    const servers = await testServers();
    mongo = await MongoClient.connect(servers.mongodbUrl);
    db = mongo.db(prefix);
    rows = db.collection<ExportRow>("exports");
    await ensureIndexes(db);
    await ensureIndexes(db, [{ name: "exports", indexes: [dueIndex] }]);
    nats = await connectNats({ url: servers.natsUrl, name: prefix });
    await ensureStream(nats.jsm, spec);
  });
  const stopAll = async (): Promise<void> => {
    await Promise.all(running.map((part) => part.stop(AbortSignal.timeout(3_000))));
    running = [];
  };
  /** Stops all timers: nothing more is hinted at. Or all workers: hints wait. */
  const stopAllThe = async (name: "timers" | "jobs"): Promise<void> => {
    const all = running.filter((part) => part.name === name);
    await Promise.all(all.map((part) => part.stop(AbortSignal.timeout(3_000))));
    running = running.filter((part) => !all.includes(part));
  };
  afterEach(async () => {
    await stopAll();
    shiftMs = 0;
    await rows.deleteMany({});
    await nats.jsm.streams.purge(spec.stream.name);
  });
  after(async () => {
    await nats.jsm.streams.delete(spec.stream.name);
    await nats.close();
    await db.dropDatabase();
    await mongo.close();
  });

  type Given = Omit<JobType<ExportRow>, "name" | "rows"> & { termMs?: number; openJobs?: number };

  /** A dispatcher that has this type of job alone. */
  const dispatcher = async ({ termMs = 30_000, openJobs = 4, ...type }: Given) => {
    const [{ log, lines }, metrics, stopping] = [keptLog(), createMetrics("dispatcher"), new AbortController()];
    const common = { db, holder: randomUUID(), clock, log, termMs, metrics, stopping: stopping.signal };
    const exports = job<ExportRow>({ name: "exports", rows, ...type });
    const jobs = jobParts({
      ...common,
      jobs: [exports],
      nats,
      publisher: publisher(nats),
      subjects: queue,
      config: { natsPrefix: prefix, natsReplicas: 1, openJobs },
    });
    const parts = [...jobs.parts, timers({ ...common, sources: jobs.timers, metrics: metrics.queue })];
    for (const part of parts) await part.start(new AbortController().signal);
    running.push(...parts);
    const results = async () => (await metrics.jobs.get()).values.filter(({ value }) => value > 0);
    return {
      lines,
      stopping,
      items: async () => (await metrics.jobItems.get()).values,
      results: async () => Object.fromEntries((await results()).map(({ labels, value }) => [labels["result"], value])),
      asides: async () => (await metrics.queue.setAside.get()).values.find(({ labels }) => labels.source === "exports"),
      run: (id: string) => exports.run(id, common, new AbortController().signal),
    };
  };
  const add = async (...ids: string[]): Promise<void> => {
    const of = { ...noWork, tenant_id: "ten_1", app_id: "app_1", page: 0, due_at: new Date(clock.now().getTime() - 1) };
    await rows.insertMany(ids.map((_id) => ({ ...of, _id })));
  };
  const row = async (id: string): Promise<ExportRow> => {
    const found = await rows.findOne({ _id: id });
    if (found === null) throw new Error(`${id} is gone`);
    return found;
  };
  const isOver = (id: string) => async (): Promise<boolean> => {
    const { due_at, lease } = await row(id);
    return due_at === null && lease === null;
  };
  const waiting = async (): Promise<number> => (await nats.jsm.streams.info(spec.stream.name)).state.messages;

  it("say how far they have come while they run, and what they came to", async () => {
    await add("long");
    const one = await dispatcher({
      termMs: 900,
      run: async (_, progress) => {
        progress(3, 10);
        await until(async () => (await row("long")).progress?.done === 3);
        progress(7);
        return { ...ended, facts: { file: "f" } };
      },
    });
    await until(isOver("long"));
    expect((await row("long")).progress).to.include({ done: 10, total: 10 });
    expect(await one.results()).to.deep.equal({ done: 1 });
    expect(await one.items()).to.deep.equal([{ labels: { job: "exports" }, value: 10 }]);
    const [line, ...more] = one.lines.filter(({ event }) => event === "job.ran");
    expect(more).to.deep.equal([]);
    expect(line).to.include({ job: "exports", document: "long", tenant: "ten_1", app: "app_1", result: "done" });
    expect(line).to.include({ items: 10, done: 10, total: 10, file: "f" });
  });

  it("keep their lease for as long as they work, far beyond its length", async () => {
    const termMs = 900;
    await add("long");
    let runs = 0;
    const type: Given = {
      termMs,
      run: async ({ lease }, progress) => {
        runs++;
        const untilMs = (lease?.until.getTime() ?? 0) + 3 * termMs;
        await until(async () => ((await row("long")).lease?.until.getTime() ?? 0) > untilMs, 10_000);
        progress(1);
        return ended;
      },
    };
    await dispatcher(type);
    await dispatcher(type);
    await until(isOver("long"), 15_000);
    expect(runs).to.equal(1);
    expect((await row("long")).fence).to.equal(1);
  });

  it("are run once each, whichever of two dispatchers has them", async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `job-${n}`);
    await add(...ids);
    const runs = new Map<string, number>();
    const type: Given = {
      run: async ({ _id, fence }, progress) => {
        runs.set(_id, (runs.get(_id) ?? 0) + 1);
        await rows.updateOne({ _id, fence }, { $inc: { page: 1 } });
        progress(1);
        return ended;
      },
    };
    const both = [await dispatcher(type), await dispatcher(type)];
    for (const id of ids) await until(isOver(id), 20_000);
    expect([...runs.values()]).to.deep.equal(ids.map(() => 1));
    const counts = await Promise.all(both.map(async ({ results }) => Number((await results())["done"] ?? 0)));
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(ids.length);
    expect(await waiting()).to.equal(0);
  });

  it("are halted, and write nothing any more, once another dispatcher has taken over", async () => {
    await add("one");
    const [{ promise: mayEnd, resolve: end }, began] = [Promise.withResolvers<void>(), { late: false }];
    const late = await dispatcher({
      termMs: 900,
      run: async ({ _id, fence }, progress) => {
        if (fence > 1) throw new Error("it has been given back");
        began.late = true;
        await mayEnd;
        await until(() => {
          progress(1); // throws as soon as the extension of its lease was refused
          return false;
        });
        return { end: { dueAt: new Date(0), set: { by: _id } } };
      },
    });
    await until(() => began.late);
    await stopAllThe("timers");
    await rows.updateOne({ _id: "one" }, { $set: { lease: { holder: "x", until: new Date(0) }, due_at: new Date(0) } });
    const { promise: hasEnded, resolve: letGo } = Promise.withResolvers<void>();
    const other = await dispatcher({
      run: async () => {
        end();
        await hasEnded;
        return { end: { dueAt: null, set: { by: "other" } } };
      },
    });
    void other.run("one");
    await until(async () => (await late.results())["halted"] === 1);
    expect((await row("one")).fence).to.equal(2);
    expect((await row("one")).lease).to.not.equal(null);
    letGo();
    await until(isOver("one"));
    expect(await row("one")).to.include({ by: "other", fence: 2 });
  });

  it("go on when the stream with their hints was deleted", async () => {
    await add("first", "second");
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    await dispatcher({ openJobs: 1, run: () => mayEnd.then(() => ended) });
    await until(async () => (await waiting()) === 2);
    await nats.jsm.streams.delete(spec.stream.name);
    end();
    shiftMs += 11_000; // the sweep
    for (const id of ["first", "second"]) await until(isOver(id), 20_000);
    expect((await rows.find().toArray()).map(({ fence }) => fence)).to.deep.equal([1, 1]);
  });

  it("are set aside when they fail, ever more rarely tried again, and others go on", async () => {
    await add("damaged", "sound");
    let isMended = false;
    const type: Given = {
      run: async ({ _id }, progress) => {
        progress(1);
        if (_id === "damaged" && !isMended) throw new TypeError("no such column");
        return ended;
      },
    };
    const one = await dispatcher(type);
    const failures = (count: number) => async () => (await row("damaged")).set_aside?.failures === count;
    await until(isOver("sound"));
    await until(failures(1));
    const { set_aside: aside, lease, due_at: dueAt } = await row("damaged");
    expect(aside?.reason).to.include("no such column");
    expect(lease).to.equal(null);
    expect(dueAt?.getTime()).to.be.within(Date.now() + 5_000, Date.now() + 11_000);
    await until(async () => (await waiting()) === 0); // what failed is not tried again by its hint
    expect((await one.asides())?.value).to.equal(1);
    await stopAllThe("jobs");
    shiftMs += 11_000;
    await until(async () => (await waiting()) === 1);
    await until(async () => ((await row("damaged")).due_at ?? new Date(0)) > clock.now());
    const other = await dispatcher(type);
    await until(failures(2)); // the timer, which published its hint, has not forgotten the first one
    const pauseMs = ((await row("damaged")).due_at?.getTime() ?? 0) - clock.now().getTime();
    expect(pauseMs).to.be.within(12_000, 20_000);
    expect(await other.results()).to.deep.equal({ failed: 1 });
    isMended = true;
    shiftMs += 21_000;
    await until(isOver("damaged"));
    expect(await row("damaged")).to.not.have.property("set_aside");
  });

  it("give way to short ones when all places are taken, and go on where they were", async () => {
    const long = ["a", "b", "c"];
    await add(...long);
    let isStopped = false;
    const one = await dispatcher({
      openJobs: 2,
      turnMs: ({ _id }) => (_id === "short" ? Number.POSITIVE_INFINITY : 300),
      run: async ({ _id, fence }, progress) => {
        while (_id !== "short" && !isStopped) {
          await rows.updateOne({ _id, fence }, { $inc: { page: 1 } });
          progress(1);
        }
        return ended;
      },
    });
    await until(async () => (await row("a")).page > 0);
    await add("short");
    await until(isOver("short"), 15_000);
    const begun = async () => (await rows.find({ page: { $gt: 0 }, fence: { $gt: 1 } }).toArray()).length;
    await until(async () => (await begun()) === long.length, 15_000);
    isStopped = true;
    for (const id of long) await until(isOver(id), 15_000);
    for (const id of long) expect((await row(id)).progress?.done).to.equal((await row(id)).page);
    expect((await one.results())["halted"]).to.be.greaterThan(2);
  });

  it("are given back when the program stops, and another goes on at once", async () => {
    await add("one");
    let isBegun = false;
    const type = (isLast: boolean): Given => ({
      run: async ({ _id, fence }, progress) => {
        while (!isLast) {
          await rows.updateOne({ _id, fence }, { $inc: { page: 1 } });
          isBegun = true;
          progress(1);
        }
        return ended;
      },
    });
    const first = await dispatcher(type(false));
    await until(() => isBegun);
    first.stopping.abort();
    await stopAll();
    const given = await row("one");
    expect(given.lease).to.equal(null);
    expect(given.due_at?.getTime()).to.be.at.most(Date.now());
    await dispatcher(type(true));
    await until(isOver("one"));
  });

  it("are not begun by a hint before they are due, nor dropped by one that is unknown", async () => {
    await add("tomorrow");
    await rows.updateOne({ _id: "tomorrow" }, { $set: { due_at: new Date(Date.now() + dayMs) } });
    const one = await dispatcher({ run: async () => ended });
    const { publish } = publisher(nats);
    for (const [type, id] of [
      ["exports", "tomorrow"],
      ["exports", "gone"],
      ["later-release", "x"],
    ] as const)
      expect(await publish(queue.job(type, id), { type, id })).to.equal("published");
    await until(async () => (await waiting()) === 0);
    expect((await row("tomorrow")).fence).to.equal(0);
    expect(await one.results()).to.deep.equal({});
  });

  it("have one hint waiting each, however often they are due", async () => {
    const { publish } = publisher(nats);
    const hint = (id: string) => publish(queue.job("exports", id), { type: "exports", id });
    expect([await hint("a"), await hint("b"), await hint("a")]).to.deep.equal(["published", "published", "refused"]);
    expect(await waiting()).to.equal(2);
  });
});
