import { expect } from "chai";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { jobStream } from "#core/queue/jetstream/topology.ts";
import { s3Settings } from "../../../dev/servers/s3.ts";
import { type PrivateServer, privateServers, testServers } from "../../support/servers/servers.ts";
import { inSuite, testTiming } from "../../support/suite/soak.ts";
import { type ImportSystem, startImporting } from "../../support/system/importing.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const people = inSuite(3_000, { soak: 6_000 });
const rows = people + people / 6; // some have two
/** How much of the file is taken when a dispatcher is killed. */
const killedAt = inSuite([1, 2_000], { soak: [1, 2_000, 4_000, 5_500] });

/** Each person has an address, every sixth another one far behind; each has three sessions in all. */
const file = [
  "external_id,channel,token,session_count",
  ...Array.from({ length: people }, (_, n) => `p${n},email,p${n}@example.com,${n % 6 === 0 ? 1 : 3}`),
  ...Array.from({ length: rows - people }, (_, n) => `p${6 * n},email,p${6 * n}@work.example,2`),
].join("\n");

const whole = { processed: rows, created_users: people, updated_users: 0, created_subscriptions: rows, errors: 0 };

describe("an import", () => {
  let site: ImportSystem;
  let nats: Nats;
  let s3: PrivateServer & { close: () => Promise<void> };
  before(async () => {
    const { s3: own, close } = await privateServers({ s3: true });
    s3 = { ...own, close };
    const servers = await testServers();
    site = await startImporting(servers, { env: s3Settings(own.url) });
    nats = await connectNats({ url: servers.natsUrl, name: site.prefix });
  });
  after(async () => {
    await nats?.close();
    await site?.stop();
    await s3?.close();
  });

  /** Has what a killed dispatcher held end now, instead of after 30 s: the job, its hint, and the timers. */
  const release = async (id: string): Promise<void> => {
    const over = { "lease.until": new Date(0) };
    await site.imports.updateOne({ _id: id }, { $set: { ...over, due_at: new Date(Date.now() - 1_000) } });
    await site.db.collection("leases").updateMany({ lease: { $ne: null } }, { $set: over });
    await nats.jsm.streams.purge(jobStream(site.prefix, testTiming).stream.name);
  };
  const processed = async (id: string): Promise<number> => (await site.show(id)).stats.processed ?? 0;
  const expectWhole = async (app: string): Promise<void> => {
    expect(await site.users.countDocuments({ app_id: app })).to.equal(people);
    expect(await site.subscriptions.countDocuments({ app_id: app })).to.equal(rows);
    expect(await site.users.countDocuments({ app_id: app, session_count: 3 })).to.equal(people);
  };

  it("counts and makes everything once, however often its dispatcher is killed", async () => {
    const { body } = await site.upload({ type: "csv_users", content: file });
    let dispatcher: SystemProgram | undefined;
    for (const reached of killedAt) {
      dispatcher = await site.start("dispatcher");
      await until(async () => (await processed(body.id)) >= reached, 60_000, 5);
      await dispatcher.kill();
      expect((await site.show(body.id)).status).to.equal("running");
      await release(body.id);
    }
    dispatcher = await site.start("dispatcher");
    const ended = await site.ended(body.id);
    expect(ended.stats, ended.error ?? "").to.include(whole);
    await expectWhole(site.app._id);
    await dispatcher.kill();
  });

  it("waits while its files are away, and goes on with them; uploads are refused meanwhile", async () => {
    const other = await site.other();
    const { body } = await other.upload({ type: "csv_users", content: file });
    await s3.kill();
    const refused = await other.upload({ type: "csv_users", content: file });
    expect([refused.status, refused.body.error.code]).to.deep.equal([503, "HS_UNAVAILABLE"]);
    await site.start("dispatcher");
    await until(async () => ((await site.imports.findOne({ _id: body.id }))?.fence ?? 0) >= 1);
    expect(await site.imports.countDocuments({ app_id: other.app._id })).to.equal(1);
    await s3.start();
    const ended = await other.ended(body.id, 90_000);
    expect(ended, ended.error ?? "").to.deep.include({ status: "completed", error: null });
    expect(ended.stats).to.include(whole);
    await expectWhole(other.app._id);
    expect((await site.imports.findOne({ _id: body.id }))?.set_aside).to.equal(undefined);
  });
});
