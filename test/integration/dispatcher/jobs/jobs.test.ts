import { expect } from "chai";
import { dayMs } from "#core/domain/durations.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { until } from "../../../support/until.ts";
import { type Given, type JobSite, openJobSite } from "./job-site.ts";

/** Far shorter than in service, and long enough for a busy machine to extend it in time. */
const termMs = 2_000;
const ended = { end: { dueAt: null } };
/** Goes through pages until one of them is the last. */
const endless = (page: () => Promise<boolean>): Promise<void> => until(page, 60_000, 10);

describe("jobs", () => {
  let site: JobSite;
  before(async () => {
    site = await openJobSite();
  });
  afterEach(() => site.reset());
  after(() => site.close());

  it("say how far they have come while they run, and what they came to", async () => {
    await site.add("long");
    const one = await site.dispatcher({
      termMs,
      run: async (_, progress) => {
        progress(3, 10);
        await until(async () => (await site.row("long")).progress?.done === 3);
        progress(7);
        return { ...ended, facts: { file: "f" } };
      },
    });
    await until(site.isOver("long"));
    await until(() => one.lines.some(({ event }) => event === "job.ran")); // the last that is said of it
    expect((await site.row("long")).progress).to.include({ done: 10, total: 10 });
    expect(await one.results()).to.deep.equal({ done: 1 });
    expect(await one.items()).to.deep.equal([{ labels: { type: "exports" }, value: 10 }]);
    const [line, ...more] = one.lines.filter(({ event }) => event === "job.ran");
    expect(more).to.deep.equal([]);
    expect(line).to.include({ job: "exports", document: "long", tenant: "ten_1", app: "app_1", result: "done" });
    expect(line).to.include({ items: 10, done: 10, total: 10, file: "f" });
  });

  it("keep their lease for as long as they work, far beyond its length", async () => {
    await site.add("long");
    let runs = 0;
    const type: Given = {
      termMs,
      run: async ({ lease }, progress) => {
        runs++;
        const untilMs = (lease?.until.getTime() ?? 0) + 2 * termMs;
        await until(async () => ((await site.row("long")).lease?.until.getTime() ?? 0) > untilMs);
        progress(1);
        return ended;
      },
    };
    await site.dispatcher(type);
    await site.dispatcher(type);
    await until(site.isOver("long"));
    expect(runs).to.equal(1);
    expect((await site.row("long")).fence).to.equal(1);
  });

  it("are run once each, whichever of two dispatchers has them", async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `job-${n}`);
    await site.add(...ids);
    const runs = new Map<string, number>();
    const type: Given = {
      run: async ({ _id, fence }, progress) => {
        runs.set(_id, (runs.get(_id) ?? 0) + 1);
        await site.rows.updateOne({ _id, fence }, { $inc: { page: 1 } });
        progress(1);
        return ended;
      },
    };
    const both = [await site.dispatcher(type), await site.dispatcher(type)];
    for (const id of ids) await until(site.isOver(id));
    expect([...runs.values()]).to.deep.equal(ids.map(() => 1));
    const counts = await Promise.all(both.map(async ({ results }) => Number((await results())["done"] ?? 0)));
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(ids.length);
    expect(await site.waiting()).to.equal(0);
  });

  it("are halted, and write nothing any more, once another dispatcher has taken over", async () => {
    await site.add("one");
    const [{ promise: mayEnd, resolve: end }, began] = [Promise.withResolvers<void>(), { late: false }];
    const late = await site.dispatcher({
      termMs,
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
    await site.stopAllThe("timers");
    await site.rows.updateOne(
      { _id: "one" },
      { $set: { lease: { holder: "x", until: new Date(0) }, due_at: new Date(0) } },
    );
    const { promise: hasEnded, resolve: letGo } = Promise.withResolvers<void>();
    const other = await site.dispatcher({
      run: async () => {
        end();
        await hasEnded;
        return { end: { dueAt: null, set: { by: "other" } } };
      },
    });
    void other.run("one");
    await until(async () => (await late.results())["halted"] === 1);
    expect((await site.row("one")).fence).to.equal(2);
    expect((await site.row("one")).lease).to.not.equal(null);
    letGo();
    await until(site.isOver("one"));
    expect(await site.row("one")).to.include({ by: "other", fence: 2 });
  });

  it("go on when the stream with their hints was deleted", async () => {
    await site.add("first", "second");
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    await site.dispatcher({ openJobs: 1, run: () => mayEnd.then(() => ended) });
    await until(async () => (await site.waiting()) === 2);
    await site.nats.jsm.streams.delete(site.stream);
    end();
    site.shift(11_000); // the sweep
    for (const id of ["first", "second"]) await until(site.isOver(id));
    expect((await site.rows.find().toArray()).map(({ fence }) => fence)).to.deep.equal([1, 1]);
  });

  it("are set aside when they fail, ever more rarely tried again, and others go on", async () => {
    await site.add("damaged", "sound");
    let isMended = false;
    const type: Given = {
      run: async ({ _id }, progress) => {
        progress(1);
        if (_id === "damaged" && !isMended) throw new TypeError("no such column");
        return ended;
      },
    };
    const beganMs = Date.now();
    const one = await site.dispatcher(type);
    const failures = (count: number) => async () => (await site.row("damaged")).set_aside?.failures === count;
    await until(site.isOver("sound"));
    await until(failures(1));
    const { set_aside: aside, lease, due_at: dueAt } = await site.row("damaged");
    expect(aside?.reason).to.include("no such column");
    expect(lease).to.equal(null);
    expect(dueAt?.getTime()).to.be.within(beganMs + 5_000, Date.now() + 11_000);
    await until(async () => (await site.waiting()) === 0); // what failed is not tried again by its hint
    expect((await one.asides())?.value).to.equal(1);
    await site.stopAllThe("jobs");
    site.shift(11_000);
    await until(async () => (await site.waiting()) === 1);
    await until(async () => ((await site.row("damaged")).due_at ?? new Date(0)) > site.clock.now());
    const other = await site.dispatcher(type);
    await until(failures(2)); // the timer, which published its hint, has not forgotten the first one
    const dueInMs = async () => ((await site.row("damaged")).due_at?.getTime() ?? 0) - site.clock.now().getTime();
    await until(async () => (await dueInMs()) > 12_000); // twice as long as before
    await until(() => other.lines.some(({ event }) => event === "job.ran"));
    expect(await other.results()).to.deep.equal({ failed: 1 });
    isMended = true;
    site.shift(32_000);
    await until(site.isOver("damaged"));
    expect(await site.row("damaged")).to.not.have.property("set_aside");
  });

  it("give way to short ones when all places are taken, and go on where they were", async () => {
    const long = ["a", "b", "c"];
    await site.add(...long);
    let isStopped = false;
    const one = await site.dispatcher({
      openJobs: 2,
      turnMs: ({ _id }) => (_id === "short" ? Number.POSITIVE_INFINITY : 300),
      run: async ({ _id, fence }, progress) => {
        if (_id === "short") return ended;
        await endless(async () => {
          await site.rows.updateOne({ _id, fence }, { $inc: { page: 1 } });
          progress(1);
          return isStopped;
        });
        return ended;
      },
    });
    await until(async () => (await site.row("a")).page > 0);
    await site.add("short");
    await until(site.isOver("short"));
    const begun = async () => (await site.rows.find({ page: { $gt: 0 }, fence: { $gt: 1 } }).toArray()).length;
    await until(async () => (await begun()) === long.length);
    isStopped = true;
    for (const id of long) await until(site.isOver(id));
    for (const id of long) expect((await site.row(id)).progress?.done).to.equal((await site.row(id)).page);
    expect((await one.results())["halted"]).to.be.greaterThan(2);
  });

  it("of one tenant leave places to another, and to those that have places of their own", async () => {
    await site.add("a", "b", "c", "d", "e", "f");
    let isStopped = false;
    await site.dispatcher({
      openJobs: 4,
      run: async ({ _id, tenant_id }, progress) => {
        if (tenant_id === "ten_2") return ended;
        await site.rows.updateOne({ _id }, { $inc: { page: 1 } });
        await endless(async () => (progress(1), isStopped));
        return ended;
      },
    });
    const begun = () => site.rows.countDocuments({ page: { $gt: 0 } });
    await until(async () => (await begun()) === 2);
    await site.addOf("ten_2", "other");
    await site.addApart("apart");
    await until(site.isOver("other"));
    await until(() => site.isApartOver("apart"));
    expect(await begun()).to.equal(2);
    isStopped = true;
    for (const id of ["a", "b", "c", "d", "e", "f"]) await until(site.isOver(id));
  });

  it("are given back when the program stops, and another goes on at once", async () => {
    await site.add("one");
    let isBegun = false;
    const type = (isLast: boolean): Given => ({
      run: async ({ _id, fence }, progress) => {
        await endless(async () => {
          await site.rows.updateOne({ _id, fence }, { $inc: { page: 1 } });
          isBegun = true;
          progress(1);
          return isLast;
        });
        return ended;
      },
    });
    const first = await site.dispatcher(type(false));
    await until(() => isBegun);
    first.stopping.abort();
    await site.stopAll();
    const given = await site.row("one");
    expect(given.lease).to.equal(null);
    expect(given.due_at?.getTime()).to.be.at.most(Date.now());
    await site.dispatcher(type(true));
    await until(site.isOver("one"));
  });

  it("are not begun by a hint before they are due, nor dropped by one that is unknown", async () => {
    await site.add("tomorrow");
    await site.rows.updateOne({ _id: "tomorrow" }, { $set: { due_at: new Date(Date.now() + dayMs) } });
    const one = await site.dispatcher({ run: async () => ended });
    const { publish } = publisher(site.nats);
    for (const [type, id] of [
      ["exports", "tomorrow"],
      ["exports", "gone"],
      ["later-release", "x"],
    ] as const)
      expect(await publish(site.subjects.job(type, id), { type, id })).to.equal("published");
    await until(async () => (await site.waiting()) === 0);
    expect((await site.row("tomorrow")).fence).to.equal(0);
    expect(await one.results()).to.deep.equal({});
  });

  it("have one hint waiting each, however often they are due", async () => {
    const { publish } = publisher(site.nats);
    const hint = (id: string) => publish(site.subjects.job("exports", id), { type: "exports", id });
    expect([await hint("a"), await hint("b"), await hint("a")]).to.deep.equal(["published", "published", "refused"]);
    expect(await site.waiting()).to.equal(2);
  });
});
