import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { type PrivateServer, privateServers } from "../../support/servers/servers.ts";
import {
  audit,
  type Caller,
  expectAllSent,
  keepCalling,
  type Posted,
  post,
  type Sending,
  seedDevices,
  send,
  startSending,
} from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const recipients = 2_000;
const outageMs = 5_000;
/** Of the programs: what lasts for 5 s must not end a lease, which would cost repeated pushes. */
const timing = "usual";
/**
 * For what a store that was away has delayed: the end of a lease whose taker never heard that they have it, the next
 * run of the timers, and the sending.
 */
const recoveredMs = timings[timing].leaseMs + 20_000;

const startServers = () => privateServers({ mongodb: true, nats: true, redis: true });

describe("a send during which a store is away for 5 s", () => {
  let servers: Awaited<ReturnType<typeof startServers>>;
  let sending: Sending;
  let devices: SubscriptionRow[];
  let programs: SystemProgram[];
  let api: SystemProgram;
  let caller: Caller | undefined;

  before(async () => {
    servers = await startServers();
    const { mongodb, nats, redis } = servers;
    sending = await startSending({ mongodbUrl: mongodb.url, natsUrl: nats.url, redisUrl: redis.url });
    const { system } = sending;
    devices = await seedDevices(system, recipients);
    const kinds = ["apiserver", "dispatcher", "dispatcher"] as const;
    programs = await Promise.all(kinds.map((kind) => system.start(kind, { HERALD_TIMING: timing })));
    [api] = programs as [SystemProgram];
    sending.apns.script({ delay_ms: 200 }); // so slow that the store goes away in the midst of it
  });

  afterEach(() => caller?.stop());

  after(async () => {
    await sending?.close();
    await servers?.close();
  });

  const accepted = (): number => sending.apns.log.counts().accepted;
  const call = (): Promise<Posted> =>
    post(sending.system, api, { target: { include_subscription_ids: [devices[0]?._id] } });

  const expectAccepted = async (): Promise<void> => {
    expect((await call()).status).to.equal(202);
  };

  /** Sends to all, and small messages beside it, while the store goes away and comes back; nothing may show of it. */
  const sendDespite = async (store: PrivateServer, whileAway: () => Promise<void>) => {
    const { system } = sending;
    const pids = programs.map((program) => program.pid());
    const before = accepted();
    const messageId = await send(system, api, { target: { all: true } });
    caller = keepCalling(system, api, devices.slice(0, 10));
    await until(() => accepted() >= before + recipients / 4);
    await store.stop();
    const back = sleep(outageMs);
    await whileAway();
    await back;
    await store.start();
    const whole = await audit(sending, { messageId, devices, withinMs: recoveredMs });
    const { ids, answers } = await caller.stop();
    const small = await Promise.all(
      ids.map((id, i) =>
        audit(sending, { messageId: id, devices: devices.slice(i % 10, (i % 10) + 1), withinMs: recoveredMs }),
      ),
    );
    expectAllSent(whole, recipients);
    for (const one of small) expectAllSent(one, 1);
    expect(whole.repeated + small.reduce((sum, one) => sum + one.repeated, 0), "pushes repeated").to.equal(0);
    expect(pids.filter(isAlive), "programs that still run").to.deep.equal(pids);
    return answers;
  };

  it("goes on without JetStream, and loses and repeats nothing", async () => {
    const answers = await sendDespite(servers.nats, expectAccepted);
    expect([...answers.keys()]).to.deep.equal([202]);
  });

  it("goes on without Redis, and loses and repeats nothing", async () => {
    const answers = await sendDespite(servers.redis, expectAccepted);
    expect([...answers.keys()]).to.deep.equal([202]);
  });

  it("is held up by MongoDB, and loses and repeats nothing", async () => {
    const answers = await sendDespite(servers.mongodb, async () => {
      const refused = await call();
      expect(refused.status).to.equal(503);
      expect(Number(refused.headers.get("retry-after"))).to.be.greaterThan(0);
      expect(refused.body).to.have.nested.property("error.code");
    });
    expect([...answers.keys()]).to.have.members([202, 503]);
  });
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
