import { expect } from "chai";
import { webhookOwners } from "#core/storage/webhooks/owners.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { partitionCount, partitionOf, testPartitioning } from "../../support/rows/partitioning.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { keepPosting, type Stream } from "../../support/webhooks/chaos.ts";
import { useFaultSite } from "../../support/webhooks/faults.ts";
import { auditInbox } from "../../support/webhooks/inbox.ts";
import { addEndpoint, anEvent, deliveriesBecome, postEvents } from "../../support/webhooks/traffic.ts";

/** A quiet machine needs 1 s to hand partitions over, and 13 s for those of a process that was killed; a busy one may time out. */
const withinMs = { handedOver: 20_000, takenOver: 40_000, retried: 100_000 };
/** As many apps, with an endpoint each, and each in a partition of its own: more than half of all, so that each of two owners has some. */
const names = Array.from({ length: 12 }, (_, n) => `owned_${n}`);

describe("the endpoints of an installation", function () {
  this.timeout(300_000);
  const site = useFaultSite();
  let streams: Stream[] = [];
  let running: SystemProgram[] = [];
  /** Of an app of its own each. */
  let systems: System[];
  let endpoints: WebhookRow[];

  before(async () => {
    const { system, inbox } = site;
    systems = await inPartitionsOfTheirOwn(system);
    endpoints = await Promise.all(
      names.map((name, i) => addEndpoint(of(i), { url: `${inbox.url}/${name}`, names: [name] })),
    );
  });
  afterEach(async () => {
    await Promise.all(streams.map((stream) => stream.stop()));
    streams = [];
    await Promise.all(running.map((dispatcher) => dispatcher.kill()));
    running = [];
  });

  const inPartitionsOfTheirOwn = async (system: System): Promise<System[]> => {
    const found = new Map<number, System>();
    while (found.size < names.length) {
      const one = await system.another();
      found.set(partitionOf(one.app._id), one);
    }
    return [...found.values()];
  };
  const of = (i: number): System => systems[i] ?? expect.fail();
  const start = async (): Promise<SystemProgram> => {
    const dispatcher = await site.system.start("dispatcher");
    running.push(dispatcher);
    return dispatcher;
  };
  const table = () => webhookOwners(site.system.db, testPartitioning).partitions.read(new Date());
  const partsOf = async (dispatcher: SystemProgram): Promise<number> =>
    (await table()).owners.filter(({ holder }) => holder?.includes(`/${dispatcher.pid()}/`)).length;
  const isSpread =
    (...dispatchers: SystemProgram[]) =>
    async (): Promise<boolean> => {
      const counts = await Promise.all(dispatchers.map(partsOf));
      return (
        counts.reduce((sum, count) => sum + count, 0) === partitionCount &&
        Math.max(...counts) - Math.min(...counts) <= 1
      );
    };
  const arrivals = (name: string) => site.inbox.arrivals(`/${name}`);

  it("are shared among dispatchers that come, stop and are killed, and every event arrives", async () => {
    const { system } = site;
    const first = await start();
    await until(isSpread(first), withinMs.handedOver);
    streams = names.map((name, i) => keepPosting(of(i), site.api, name, 1));
    const [second, third] = await Promise.all([start(), start()]);
    await until(isSpread(first, second, third), withinMs.handedOver);
    await second.stop();
    await until(isSpread(first, third), withinMs.handedOver);
    const again = await start();
    await until(isSpread(first, third, again), withinMs.handedOver);
    await third.kill();
    await until(isSpread(first, again), withinMs.takenOver);

    const posted = await Promise.all(streams.map((stream) => stream.stop()));
    const all = posted.reduce((sum, count) => sum + count, 0);
    const ids = endpoints.map(({ _id }) => _id);
    await deliveriesBecome(system, ids, { are: ({ success }) => success === all, withinMs: withinMs.retried });
    const audits = names.map((name, i) => auditInbox(arrivals(name), posted[i] ?? 0));
    expect(audits.flatMap(({ missed }) => missed)).to.deep.equal([]);
    expect(Math.max(...audits.map(({ mostTimes }) => mostTimes)), "one kill").to.be.at.most(2);
    await Promise.all([first.stop(), again.stop()]);
    expect((await table()).owners.every(({ holder }) => holder === null)).to.equal(true);
    expect((await table()).members).to.deep.equal([]);
  });

  it("whose owner is killed get what comes meanwhile, once another has taken their partitions", async () => {
    const [one, other] = await Promise.all([start(), start()]);
    await until(isSpread(one, other), withinMs.handedOver);
    const { owners } = await table();
    const isOfOne = ({ app_id: app }: WebhookRow): boolean =>
      owners[partitionOf(app)]?.holder?.includes(`/${one.pid()}/`) === true;
    const left = names.filter((_, i) => isOfOne(endpoints[i] ?? expect.fail()));
    expect(left).to.have.length.within(1, names.length - 1);
    const before = new Map(left.map((name) => [name, arrivals(name).length]));
    await one.kill();
    for (const name of left) await postEvents(of(names.indexOf(name)), site.api, [anEvent(name, 100_000)]);
    const haveCome = (): boolean => left.every((name) => arrivals(name).length === (before.get(name) ?? 0) + 1);
    await until(haveCome, withinMs.takenOver);
  });
});
