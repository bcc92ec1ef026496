import { expect } from "chai";
import { privateServers } from "../../../support/servers/servers.ts";
import { until } from "../../../support/until.ts";
import { differences } from "../support/audit.ts";
import { type Installation, installation } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: JetStream that is away", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let own: Awaited<ReturnType<typeof privateServers<"nats">>>;

  before(async () => {
    own = await privateServers({ nats: true });
    herald = await installation();
    make = manifests(herald);
    await herald.start({ natsUrl: own.nats.url });
  });
  after(async () => {
    await herald.close();
    await own.close();
  });

  const synced = async (): Promise<string> => (await herald.conditionOf(make.plan(), "Synced"))?.status ?? "";
  let stoppedAt = 0;
  const stop = async (): Promise<void> => {
    stoppedAt = performance.now();
    await own.nats.stop();
  };
  /** The back-off, which doubles, is by now at most as long as JetStream was away; and what a pass itself takes. */
  const healMs = (): number => performance.now() - stoppedAt + 15_000;

  it("is reported in Synced, leaves Ready unknown for what is new, and heals", async () => {
    await stop();
    await herald.apply(make.plan());
    await until(async () => (await synced()) === "False", 30_000);
    const condition = await herald.conditionOf(make.plan(), "Ready");
    expect(condition).to.include({ status: "Unknown", reason: "Unavailable" });
    await own.nats.start();
    await herald.ready(make.plan(), "True", undefined, healMs());
    expect(await synced()).to.equal("True");
  });

  it("never makes a finalizer drop: the stream goes first, however long that takes", async () => {
    await stop();
    await herald.remove(make.plan());
    await until(async () => (await synced()) === "False", 30_000);
    expect((await herald.get(make.plan()))?.metadata.deletionTimestamp).to.be.a("string");
    await own.nats.start();
    await herald.gone(make.plan(), healMs());
  });
});

describe("operator: MongoDB that is away", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let own: Awaited<ReturnType<typeof privateServers<"mongodb">>>;

  before(async () => {
    own = await privateServers({ mongodb: true });
    herald = await installation({ mongodbUrl: own.mongodb.url });
    make = manifests(herald);
    for (const object of [make.namespace, make.iosSecret()]) await herald.apply(object);
    await herald.start();
  });
  after(async () => {
    await herald.close();
    await own.close();
  });

  const all = () => [make.plan(), make.tenant(), make.app(), make.apiKey(), make.webhook(), make.activityType()];

  it("drops no finalizer of anything that is deleted meanwhile, and all goes when it is back", async () => {
    for (const object of all()) await herald.apply(object);
    for (const object of all()) await herald.ready(object);
    await own.mongodb.stop();
    for (const object of all()) await herald.remove(object);
    for (const object of all()) {
      await until(async () => (await herald.conditionOf(object, "Synced"))?.reason === "Unavailable", 30_000);
      expect((await herald.get(object))?.metadata.deletionTimestamp, object.kind).to.be.a("string");
    }
    expect(await herald.get(make.secret("events-signing", {})), "what the document refers to").to.not.equal(null);
    await own.mongodb.start();
    for (const object of all()) await herald.gone(object);
    expect(await differences(herald)).to.deep.equal([]);
    for (const name of ["backend-connection", "events-signing"]) {
      expect(await herald.get(make.secret(name, {}))).to.equal(null);
    }
  });
});
