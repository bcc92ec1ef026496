import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect } from "chai";
import type { ThrottleRow } from "#core/storage/messages/throttles.ts";
import { testServers } from "../../support/servers/servers.ts";
import { inSuite, testTiming } from "../../support/suite/soak.ts";
import {
  audit,
  deliveriesOf,
  expectAllSent,
  type Sending,
  seedDevices,
  send,
  startSending,
} from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const perMinute = 3_000;
const recipients = inSuite(400, { soak: 600 }); // 8 s, or 12
const windowMs = 5_000;
const expected = (perMinute / 60_000) * windowMs;
/** The most that may arrive in 5 s, and in so much more as this process stood still: what waited meanwhile comes at once. */
const mostBeside = (stoodStillMs: number): number => (perMinute / 60_000) * (windowMs + stoodStillMs) * 1.02;
/**
 * The fewest, in `make soak`, which runs this file by itself: an instant whose send was not begun within 50 ms is lost, and
 * beside other tests a program waits for a core for longer than that, again and again.
 */
const least = inSuite<number | null>(null, { soak: expected * 0.9 });
/** So late the first answer of several may be, on a busy machine. */
const lateMs = 500;
const withinMs = 60_000 + testTiming.leaseMs;

/** The fewest and the most that arrived in any 5 s, of those that lie within the whole. */
const evenness = (arrivals: readonly number[]): { fewest: number; most: number } => {
  const [first = 0, last = 0] = [arrivals[0], arrivals.at(-1)];
  const counts = (begins: readonly number[]) =>
    begins.map((begin) => arrivals.filter((at) => at >= begin && at < begin + windowMs).length);
  const whole = Array.from({ length: Math.floor((last - first - windowMs) / 100) }, (_, i) => first + i * 100);
  return { fewest: Math.min(...counts(whole)), most: Math.max(...counts(arrivals)) };
};

describe("a throttled message", () => {
  let sending: Sending;
  let api: SystemProgram;
  const dispatchers: SystemProgram[] = [];
  const standstill = monitorEventLoopDelay({ resolution: 5 });
  const most = (): number => mostBeside(standstill.max / 1e6);

  before(async () => {
    sending = await startSending(await testServers());
    api = await sending.system.start("apiserver");
  });
  before(() => void standstill.enable());
  after(() => {
    standstill.disable();
    return sending?.close();
  });

  const withDispatchers = async (count: number): Promise<void> => {
    while (dispatchers.length < count) dispatchers.push(await sending.system.start("dispatcher"));
  };
  const waiting = async (id: string) =>
    (await deliveriesOf(sending.system, id)).filter(({ status }) => status === "scheduled");
  const arrivals = (): number[] => sending.apns.log.page().map(({ at }) => Date.parse(at));
  const sent = async (during: () => Promise<void> = async () => undefined) => {
    const system = { ...sending.system, ...(await sending.system.another()) };
    const devices = await seedDevices(system, recipients);
    sending.apns.log.clear();
    const body = { target: { all: true }, throttle_rate_per_minute: perMinute };
    standstill.reset();
    const messageId = await send(system, api, body);
    await during();
    return audit({ system, apns: sending.apns }, { messageId, devices, withinMs });
  };

  for (const count of inSuite([1, 4], { soak: [1, 2, 4] }))
    it(`is sent evenly by ${count} dispatchers`, async () => {
      await withDispatchers(count);
      expectAllSent(await sent(), recipients);
      const even = evenness(arrivals());
      if (process.env["SHOW_THROTTLE"]) console.log(even, most());
      expect(even.most).to.be.at.most(most());
      if (least !== null) expect(even.fewest).to.be.at.least(least);
    });

  it("is never faster when a dispatcher is killed, and loses nobody", async () => {
    await withDispatchers(2);
    const whole = await sent(async () => {
      await until(() => sending.apns.log.counts().accepted > recipients / 4, withinMs);
      await Promise.all(dispatchers.slice(1).map((one) => one.kill()));
      await Promise.all(dispatchers.slice(1).map((one) => one.restart()));
    });
    expectAllSent(whole, recipients);
    const even = evenness(arrivals());
    if (process.env["SHOW_THROTTLE"]) console.log(even, most(), whole.repeated);
    expect(even.most).to.be.at.most(most());
    expect(whole.repeated).to.be.at.most(100);
  });

  it("goes by the app's default, unless it says another rate, and 0 is none", async () => {
    await withDispatchers(1);
    const system = { ...sending.system, ...(await sending.system.another()) };
    const reply = await fetch(`${api.url}/v1/apps/${system.app._id}/settings`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      body: JSON.stringify({ throttle_default: 600 }),
    });
    expect(reply.status).to.equal(200);
    const devices = await seedDevices(system, 20);
    const tookMs = async (body: object): Promise<number> => {
      const { _id: id } = await system.ended(await send(system, api, { target: idsOf(devices), ...body }), withinMs);
      const at = (await deliveriesOf(system, id)).map(({ sent_at: sentAt }) => sentAt?.getTime() ?? Number.NaN);
      expect(at).to.have.length(20);
      return Math.max(...at) - Math.min(...at);
    };
    expect(await tookMs({})).to.be.at.least(1_900 - lateMs);
    expect(await tookMs({ throttle_rate_per_minute: 300 })).to.be.at.least(3_800 - lateMs);
    const rows = system.db.collection<ThrottleRow>("throttles");
    const before = await rows.countDocuments({ app_id: system.app._id });
    await tookMs({ throttle_rate_per_minute: 0 });
    expect(await rows.countDocuments({ app_id: system.app._id })).to.equal(before); // none was reserved
  });

  it("says when each is expected who waits longer than a quarter of an hour, and cancels these deliveries", async () => {
    const system = { ...sending.system, ...(await sending.system.another()) };
    await withDispatchers(1);
    const devices = await seedDevices(system, 60);
    const fromMs = Date.now();
    const [ofIds, ofAll] = (await Promise.all(
      [idsOf(devices), { all: true }].map((target) => send(system, api, { target, throttle_rate_per_minute: 2 })),
    )) as [string, string]; // two
    for (const id of [ofIds, ofAll]) {
      // one after another, half a minute apart: the first 31 within a quarter of an hour
      await until(async () => (await waiting(id)).length === 29, withinMs);
      const waits = (await waiting(id)).map(({ scheduled_for: at }) => at?.getTime() ?? 0).toSorted((a, b) => a - b);
      expect(waits[0]).to.be.within(fromMs + 15 * 60_000, Date.now() + 16 * 60_000);
      expect(waits.every((at, n) => at - (waits[0] ?? 0) === n * 30_000)).to.equal(true);
    }
    const headers = { authorization: `Bearer ${system.token}` };
    const ask = async (method: string, path: string) => {
      const reply = await fetch(`${api.url}/v1/notifications/${path}`, { method, headers });
      return (await reply.json()) as { status?: string; data?: object[] };
    };
    const listed = (await ask("GET", `${ofIds}/deliveries?status=scheduled&limit=200`)).data ?? [];
    expect(listed.length, "those who wait for less, too").to.be.within(50, 60);
    for (const id of [ofIds, ofAll]) {
      expect((await ask("DELETE", `${id}?force=true`)).status).to.equal("cancelled");
      await until(async () => (await waiting(id)).length === 0, withinMs);
      const ended = await deliveriesOf(system, id);
      expect(ended.filter(({ status }) => status === "cancelled")).to.have.length(29);
    }
  });

  it("of one send a minute leaves the places of others free, and can be cancelled until the first", async () => {
    const { system } = sending;
    await withDispatchers(1);
    const devices = await seedDevices(system, 3);
    const slow = await Promise.all(
      Array.from({ length: 12 }, () => send(system, api, { target: idsOf(devices), throttle_rate_per_minute: 1 })),
    );
    const startedMs = Date.now();
    const other = await seedDevices({ ...system, ...(await system.another()) }, 1);
    expect(other).to.have.length(1);
    const many = await seedDevices(system, 501);
    const plain = await send(system, api, { target: idsOf(many) });
    expect((await system.ended(plain, withinMs)).counts.sent).to.equal(501);
    expect(Date.now() - startedMs).to.be.below(40_000);
    const begun = await system.db
      .collection("deliveries")
      .countDocuments({ message_id: { $in: slow }, position: { $gt: "" } });
    expect(begun).to.be.at.most(slow.length * 2);
  });
});

const idsOf = (devices: readonly { _id: string }[]) => ({ include_subscription_ids: devices.map(({ _id }) => _id) });
