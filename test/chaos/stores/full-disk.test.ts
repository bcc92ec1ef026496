import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { privateServers } from "../../support/servers/servers.ts";
import { type SmallDisk, smallDisk } from "../../support/servers/small-disk.ts";
import {
  audit,
  expectAllSent,
  type Posted,
  post,
  type Sending,
  seedDevices,
  startSending,
} from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const withinMs = 90_000;

/** docs/full-disk.md says what happens and what to do; this does it. */
describe("a store whose disk is full", function () {
  this.timeout(300_000);
  let disks: Record<"mongodb" | "nats" | "redis", SmallDisk>;
  let mongodb: Awaited<ReturnType<typeof privateServers<"mongodb">>>;
  let nats: Awaited<ReturnType<typeof privateServers<"nats">>>;
  let redis: Awaited<ReturnType<typeof privateServers<"redis">>>;
  let sending: Sending;
  let api: SystemProgram;
  let device: SubscriptionRow;

  before(async () => {
    disks = { mongodb: await smallDisk(), nats: await smallDisk(), redis: await smallDisk() };
    mongodb = await privateServers({ mongodb: true }, { durable: true, at: disks.mongodb.path });
    nats = await privateServers({ nats: true }, { durable: true, at: disks.nats.path });
    redis = await privateServers({ redis: true }, { durable: true, at: disks.redis.path });
    const [mongodbUrl, natsUrl, redisUrl] = [mongodb.mongodb.url, nats.nats.url, redis.redis.url];
    sending = await startSending({ mongodbUrl, natsUrl, redisUrl });
    [device] = (await seedDevices(sending.system, 1)) as [SubscriptionRow];
    [api] = await Promise.all([sending.system.start("apiserver"), sending.system.start("dispatcher")]);
  });
  after(async () => {
    await sending?.close();
    for (const servers of [mongodb, nats, redis]) await servers?.close();
    for (const disk of Object.values(disks ?? {})) await disk.remove();
  });

  const call = (): Promise<Posted> =>
    post(sending.system, api, {
      target: { include_subscription_ids: [device._id] },
      contents: { en: "x".repeat(2_000) },
    });
  /** Calls until an answer is as it has to be; all answers. */
  const callUntil = async (holds: (answer: Posted) => boolean): Promise<Posted[]> => {
    const answers: Posted[] = [];
    await until(async () => {
      answers.push(await call());
      return answers.some(holds);
    }, withinMs);
    return answers;
  };
  const expectSent = async (answers: readonly Posted[]): Promise<void> => {
    const ids = answers.filter(({ status }) => status === 202).map(({ body }) => String(body["id"]));
    expect(ids).to.not.be.empty;
    for (const messageId of ids) expectAllSent(await audit(sending, { messageId, devices: [device], withinMs }), 1);
  };
  const statusesOf = (answers: readonly Posted[]) => new Set(answers.map(({ status }) => status));

  it("Redis: requests are answered, each replica counts by itself, and nothing has to be done when there is room", async () => {
    await disks.redis.fill();
    await ask(redis.redis.url, "BGSAVE");
    await until(
      async () => (await ask(redis.redis.url, "INFO persistence")).includes("rdb_last_bgsave_status:err"),
      withinMs,
    );
    const answers = await callUntil(({ headers }) => headers.get("x-ratelimit-degraded") === "1");
    expect(statusesOf(answers)).to.deep.equal(new Set([202]));
    await disks.redis.free();
    await ask(redis.redis.url, "BGSAVE");
    const later = await callUntil(({ headers }) => headers.get("x-ratelimit-degraded") === null);
    await expectSent([...answers, ...later]);
  });

  it("JetStream: what is accepted waits in MongoDB, and is sent once it has room and is started again", async () => {
    await disks.nats.fill();
    const answers = await Promise.all(Array.from({ length: 50 }, call));
    expect(statusesOf(answers)).to.deep.equal(new Set([202]));
    await disks.nats.free();
    await nats.nats.stop();
    await nats.nats.start();
    await expectSent([...answers, await call()]);
  });

  it("MongoDB: requests are refused, what was accepted is sent once it has room", async () => {
    await disks.mongodb.fill();
    const answers = await callUntil(({ status }) => status !== 202);
    expect([...statusesOf(answers)].filter((status) => status !== 202)).to.deep.equal([503]);
    await disks.mongodb.free();
    await mongodb.mongodb.stop().catch(() => undefined); // it may have ended by itself
    await mongodb.mongodb.start();
    await expectSent([...answers, ...(await callUntil(({ status }) => status === 202))]);
  });
});

/** What Redis answers, as far as it comes in one piece. */
const ask = async (url: string, words: string): Promise<string> => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write(`${words}\r\n`);
  const [said] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return said.toString();
};
