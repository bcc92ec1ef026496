import { expect } from "chai";
import { appRemoval } from "#core/storage/apps/removal.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type RemovalRow, removalCollection, removals } from "#core/storage/work/removals.ts";
import { testServers } from "../../support/servers/servers.ts";
import { testTiming } from "../../support/suite/soak.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { type System, type SystemProgram, startSystem } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

/** Some seconds of work. */
const documents = 30_000;
const atOnce = 10_000;
/** The lease, and what a busy machine needs to remove the rest. */
const takenOverMs = testTiming.leaseMs + 60_000;

describe("a dispatcher that is killed in the middle of a removal", () => {
  let system: System;
  let dispatchers: SystemProgram[];

  before(async () => {
    const apns = { url: "https://127.0.0.1:9", credentials: testCredentials() }; // nothing is pushed
    system = await startSystem({ ...(await testServers()), apns });
    dispatchers = await Promise.all([system.start("dispatcher"), system.start("dispatcher")]);
  });
  after(() => system?.stop());

  const history = () => system.db.collection<{ _id: string; app_id: string }>("webhook_deliveries");
  const left = (app: string): Promise<number> => history().countDocuments({ app_id: app });
  const seed = async (app: string, count: number): Promise<void> => {
    for (let from = 0; from < count; from += atOnce) {
      const page = Array.from({ length: Math.min(atOnce, count - from) }, (_, n) => from + n);
      await history().insertMany(page.map((n) => ({ _id: `${app}_${n}`, app_id: app })));
    }
  };
  const now = (id: string): Promise<RemovalRow | null> =>
    collectionOf<RemovalRow>(system.db, removalCollection).findOne({ _id: id });

  it("is replaced when its lease has run out, and everything is removed", async () => {
    await seed("app_gone", documents);
    await seed("app_other", 100);
    await removals(system.db).begin(appRemoval({ _id: "app_gone", tenant_id: system.tenantId }, new Date()));
    await until(async () => (await left("app_gone")) < documents, 20_000, 20);
    const leaseHolder = (await now("app_gone"))?.lease?.holder ?? "";
    const holder = dispatchers.find((one) => leaseHolder.includes(`/${one.pid()}/`));
    await holder?.kill();
    expect(holder, "the dispatcher that had the lease").to.not.equal(undefined);
    expect(await left("app_gone"), "documents that the kill left").to.be.greaterThan(0);

    await until(async () => ((await now("app_gone"))?.passes ?? 0) === 1, takenOverMs);
    expect(await left("app_gone")).to.equal(0);
    expect(await left("app_other")).to.equal(100);
    const row = await now("app_gone");
    expect(row?.fence).to.be.at.least(2);
    expect(row?.lease).to.equal(null);
    expect(row?.progress?.done).to.be.greaterThan(0);
  });
});
